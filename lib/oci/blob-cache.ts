/** The folder of verified blobs, blobs/sha256/<hex>: what is in it under a digest has that digest. */
import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { digestHex, digestOf } from "../domain/digest.ts";
import { type BlobLimits, evictBlobs, markUsed } from "./blob-eviction.ts";
import { wrongBytes } from "./registry-client.ts";
import { SingleFlight } from "./single-flight.ts";

/** A shared store behind the folder, for example the object store: asked before the registry, told after it. */
export interface SecondLevel {
  /** Puts the blob into `path`; false when the store does not have it, or when it is larger than `maxBytes`. */
  fetch(hex: string, path: string, signal: AbortSignal, maxBytes?: number): Promise<boolean>;
  /** Keeps a copy of the file; the file stays. */
  keep(hex: string, path: string, signal: AbortSignal): Promise<void>;
}

export interface BlobCacheOptions {
  /** Folder below which blobs/ is made. */
  dir: string;
  secondLevel?: SecondLevel | undefined;
  limits?: BlobLimits | undefined;
  /** Told about failures of the second level, which never fail a fetch. */
  onWarning?: ((message: string, cause: unknown) => void) | undefined;
}

export interface BlobWanted {
  digest: string;
  /** Exact size; null when only the digest is known. */
  sizeBytes: number | null;
}

export interface BlobWait {
  signal?: AbortSignal | undefined;
  onBytes?: ((receivedBytes: number) => void) | undefined;
}

/** Writes the blob into a new file and gives the digest of what it wrote. */
export type FillBlob = (
  path: string,
  signal: AbortSignal,
  onBytes: (receivedBytes: number) => void,
) => Promise<string>;

/** Of callers that cannot leave. */
const NEVER = new AbortController().signal;
const STALE_PARTIAL_MS = 24 * 60 * 60 * 1000;
const LIMITS: BlobLimits = { maxBytes: 20 * 2 ** 30, minIdleMs: 60 * 60 * 1000 };

/** Blobs by digest with one download per digest at a time, however many ask. */
export class BlobCache {
  readonly #blobs: string;
  readonly #partials: string;
  readonly #options: BlobCacheOptions;
  readonly #flights = new SingleFlight<string, number>();
  /** Size and change time of files whose digest this process has checked. */
  readonly #checked = new Map<string, string>();
  #prepared: Promise<void> | null = null;
  #evicting: Promise<void> | null = null;

  constructor(options: BlobCacheOptions) {
    this.#options = options;
    this.#blobs = join(options.dir, "blobs", "sha256");
    this.#partials = join(options.dir, "blobs", "partial");
  }

  /** Path of the blob; `fill` writes it into a new file when neither level has it. Bytes of another digest are refused. */
  async get(wanted: BlobWanted, fill: FillBlob, wait: BlobWait = {}): Promise<string> {
    const hex = digestHex(wanted.digest);
    return this.#flights.join(hex, (signal, report) => this.#materialize(wanted, fill, signal, report), {
      signal: wait.signal,
      onProgress: wait.onBytes,
    });
  }

  /** True when the folder has a file of that name and size; its bytes are checked when they are used. */
  async holds(digest: string, sizeBytes: number): Promise<boolean> {
    const found = await stat(join(this.#blobs, digestHex(digest))).catch(() => null);
    return found?.size === sizeBytes;
  }

  /** Bytes of a small blob that one of the levels has; null when none has it whole. */
  async readSmall(digest: string, maxBytes: number, signal?: AbortSignal): Promise<Uint8Array | null> {
    const hex = digestHex(digest);
    const path = join(this.#blobs, hex);
    const kept = await readWhole(path, digest, maxBytes);
    if (kept !== null || this.#options.secondLevel === undefined) return kept;
    await this.#prepare();
    const partial = join(this.#partials, `${hex}.${randomUUID()}`);
    try {
      const wanted = { digest, sizeBytes: null };
      if (!(await this.#fetchShared(wanted, partial, signal ?? NEVER, maxBytes))) return null;
      const bytes = await readWhole(partial, digest, maxBytes);
      if (bytes !== null) await rename(partial, path);
      return bytes;
    } finally {
      this.#checked.delete(partial);
      await rm(partial, { force: true });
    }
  }

  /** Removes what was not used for longest when the folder is too large; one look at a time. */
  evict(): Promise<void> {
    this.#evicting ??= evictBlobs(this.#blobs, this.#options.limits ?? LIMITS)
      .then((removed) => {
        for (const path of removed) this.#checked.delete(path);
      })
      .catch((error: unknown) => this.#options.onWarning?.("old layers cannot be removed", error))
      .finally(() => {
        this.#evicting = null;
      });
    return this.#evicting;
  }

  /** Keeps small bytes (a manifest) under their own digest, on both levels. */
  async writeSmall(bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
    await this.#prepare();
    const hex = digestHex(digestOf(bytes));
    const path = join(this.#blobs, hex);
    const partial = join(this.#partials, randomUUID());
    await writeFile(partial, bytes);
    await rename(partial, path);
    await this.#keepShared(hex, path, signal ?? NEVER);
  }

  async #materialize(
    wanted: BlobWanted,
    fill: FillBlob,
    signal: AbortSignal,
    report: (receivedBytes: number) => void,
  ): Promise<string> {
    const hex = digestHex(wanted.digest);
    const path = join(this.#blobs, hex);
    await markUsed(path);
    if (await this.#isWhole(path, wanted)) return path;
    await this.#prepare();
    const partial = join(this.#partials, `${hex}.${randomUUID()}`);
    try {
      const shared = await this.#fetchShared(wanted, partial, signal);
      if (!shared) {
        const written = await fill(partial, signal, report);
        if (written !== wanted.digest) throw wrongBytes(`the blob ${wanted.digest}`, wanted.digest, written);
      }
      await rename(partial, path);
      this.#checked.delete(partial);
      this.#checked.set(path, await fingerprint(path));
      if (!shared) await this.#keepShared(hex, path, signal);
      void this.evict();
      return path;
    } finally {
      await rm(partial, { force: true });
    }
  }

  /** True when the file is there with the right size and digest; a damaged one is removed. */
  async #isWhole(path: string, wanted: BlobWanted): Promise<boolean> {
    const mark = await fingerprint(path).catch(() => null);
    if (mark === null) return false;
    if (this.#checked.get(path) === mark) return true;
    const { size } = await stat(path);
    const fits = wanted.sizeBytes === null || wanted.sizeBytes === size;
    if (fits && (await fileDigest(path)) === wanted.digest) {
      this.#checked.set(path, mark);
      return true;
    }
    await rm(path, { force: true });
    return false;
  }

  async #fetchShared(
    wanted: BlobWanted,
    path: string,
    signal: AbortSignal,
    maxBytes?: number,
  ): Promise<boolean> {
    try {
      const hex = digestHex(wanted.digest);
      const fetched = await this.#options.secondLevel?.fetch(hex, path, signal, maxBytes);
      if (fetched && (await this.#isWhole(path, wanted))) return true;
    } catch (error) {
      if (signal.aborted) throw error;
      this.#options.onWarning?.("the shared blob store cannot be read", error);
    }
    await rm(path, { force: true });
    return false;
  }

  async #keepShared(hex: string, path: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#options.secondLevel?.keep(hex, path, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      this.#options.onWarning?.("the shared blob store cannot be written", error);
    }
  }

  #prepare(): Promise<void> {
    this.#prepared ??= prepare(this.#blobs, this.#partials).catch((error: unknown) => {
      this.#prepared = null;
      throw error;
    });
    return this.#prepared;
  }
}

/** Null when the file is not there, larger than allowed, or has other bytes. */
async function readWhole(path: string, digest: string, maxBytes: number): Promise<Uint8Array | null> {
  const found = await stat(path).catch(() => null);
  if (!found || found.size > maxBytes) return null;
  const bytes = await readFile(path).catch(() => null);
  return bytes !== null && digestOf(bytes) === digest ? bytes : null;
}

/** Makes the folders and removes what a killed process left half done a day ago or earlier. */
async function prepare(blobs: string, partials: string): Promise<void> {
  await mkdir(blobs, { recursive: true });
  await mkdir(partials, { recursive: true });
  const oldest = Date.now() - STALE_PARTIAL_MS;
  for (const name of await readdir(partials)) {
    const path = join(partials, name);
    const found = await stat(path).catch(() => null);
    if (found && found.mtimeMs < oldest) await rm(path, { force: true });
  }
}

async function fingerprint(path: string): Promise<string> {
  const { size, mtimeMs, ino } = await stat(path);
  // Whole milliseconds: that is all that stays of it when the time of last use is set.
  return `${size} ${Math.floor(mtimeMs)} ${ino}`;
}

async function fileDigest(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return `sha256:${hash.digest("hex")}`;
}
