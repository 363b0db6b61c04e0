/** The object store in a directory of this machine: temporary file, fsync, rename. */
import { randomUUID } from "node:crypto";
import { constants, createWriteStream } from "node:fs";
import { copyFile, type FileHandle, mkdir, open, opendir, rename, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { AppError, notFound } from "../errors/app-error.ts";
import { diskFull, isDiskFull } from "../errors/disk-full.ts";
import { systemCode } from "../errors/system-code.ts";
import { clipRange } from "./clip-range.ts";
import { FileReader } from "./file-reader.ts";
import { HashingStream, hashFile } from "./hashing.ts";
import { checkKey, checkPrefix } from "./keys.ts";
import type { ByteRange, ObjectStore, PutResult, StoredObject } from "./object-store.ts";

/** Begins with a dot, so no key can name it. */
const TEMPORARY = ".tmp";

type PutOptions = { contentType?: string; signal?: AbortSignal };

export class DirectoryStore implements ObjectStore {
  readonly kind = "directory";
  readonly #root: string;

  /** Root is created on first write. Several processes may use the same root. */
  constructor(root: string) {
    this.#root = resolve(root);
  }

  async put(key: string, source: Readable, options: PutOptions = {}): Promise<PutResult> {
    checkKey(key);
    const temporary = await this.#temporaryPath();
    const hashing = new HashingStream();
    try {
      const sink = createWriteStream(temporary, { flush: true, highWaterMark: 1024 * 1024 });
      await pipeline(source, hashing, sink, options.signal ? { signal: options.signal } : {});
      await this.#publish(temporary, key);
    } catch (error) {
      await rm(temporary, { force: true });
      throw toStoreError(error, key);
    }
    return hashing.result();
  }

  async putFile(key: string, path: string, options: PutOptions = {}): Promise<PutResult> {
    checkKey(key);
    let temporary: string | undefined;
    try {
      // The disk writes while the processors hash.
      const [result] = await Promise.all([hashFile(path, options.signal), syncPath(path)]);
      options.signal?.throwIfAborted();
      await this.#publish(path, key).catch(async (error: unknown) => {
        if (systemCode(error) !== "EXDEV") throw error;
        // Scratch on another file system: copy beside the target first, so that the object still appears whole.
        temporary = await this.#temporaryPath();
        await copyFile(path, temporary, constants.COPYFILE_FICLONE);
        await syncPath(temporary);
        await this.#publish(temporary, key);
        await rm(path, { force: true });
      });
      return result;
    } catch (error) {
      if (temporary !== undefined) await rm(temporary, { force: true });
      throw toStoreError(error, key);
    }
  }

  async head(key: string): Promise<StoredObject | null> {
    const info = await stat(this.#path(key)).catch(ignoreAbsence);
    return info?.isFile() ? { sizeBytes: info.size } : null;
  }

  async get(key: string, range?: ByteRange, signal?: AbortSignal): Promise<Readable> {
    signal?.throwIfAborted();
    const handle = await open(this.#path(key), "r").catch(ignoreAbsence);
    if (!handle) throw absent(key);
    try {
      const info = await handle.stat();
      if (!info.isFile()) throw absent(key);
      const part = clipRange(range, info.size, key);
      return withSignal(new FileReader(handle, part.start, part.end, key), signal);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  async getFile(key: string, path: string, signal?: AbortSignal): Promise<boolean> {
    signal?.throwIfAborted();
    const source = this.#path(key);
    const before = await stat(source).catch(ignoreAbsence);
    if (!before?.isFile()) return false;
    const temporary = `${path}.${randomUUID()}.part`;
    try {
      await copyFile(source, temporary, constants.COPYFILE_FICLONE);
      const copied = await stat(temporary);
      const now = await stat(source).catch(ignoreAbsence);
      if (copied.size !== before.size && copied.size !== now?.size)
        throw new Error(`${key} was copied in part only`);
      await rename(temporary, path);
      return true;
    } catch (error) {
      await rm(temporary, { force: true });
      if (systemCode(error) === "ENOENT" && !(await this.head(key))) return false;
      throw toStoreError(error, key);
    }
  }

  async delete(key: string): Promise<void> {
    const path = this.#path(key);
    await rm(path, { force: true });
    // Folders that became empty go too; the first one that is not empty, or just got a new object, ends it.
    for (let folder = dirname(path); folder.length > this.#root.length; folder = dirname(folder)) {
      const removed = await rmdir(folder).then(
        () => true,
        () => false,
      );
      if (!removed) return;
    }
  }

  removeLeftovers(olderThanMs: number): Promise<number> {
    return sweepTemporaryFiles(this.#root, olderThanMs, Date.now());
  }

  async *list(prefix: string): AsyncIterable<{ key: string; sizeBytes: number }> {
    checkPrefix(prefix);
    const folder = prefix.includes("/") ? prefix.slice(0, prefix.lastIndexOf("/") + 1) : "";
    yield* this.#walk(folder, prefix);
  }

  async check(): Promise<void> {
    const temporary = await this.#temporaryPath().catch((error: unknown) => this.#unusable(error));
    try {
      const handle = await open(temporary, "w+");
      try {
        await handle.writeFile("ok");
        const { bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
        if (bytesRead !== 2) throw new Error("what was written could not be read back");
      } finally {
        await handle.close();
      }
    } catch (error) {
      this.#unusable(error);
    } finally {
      await rm(temporary, { force: true });
    }
  }

  #unusable(error: unknown): never {
    const why = error instanceof Error ? error.message : String(error);
    throw new AppError(
      "upstream_unavailable",
      `The object store ${this.#root} cannot be written and read: ${why}`,
      {
        hint: "Check that the folder exists, belongs to this account and that the disk is not full.",
        cause: error,
      },
    );
  }

  #path(key: string): string {
    checkKey(key);
    return join(this.#root, key);
  }

  async #temporaryPath(): Promise<string> {
    const folder = join(this.#root, TEMPORARY);
    await mkdir(folder, { recursive: true });
    return join(folder, randomUUID());
  }

  /** Moves a finished file to its key. A delete beside us may remove the folder between mkdir and rename: try again. */
  async #publish(path: string, key: string): Promise<void> {
    const target = this.#path(key);
    for (let attempt = 1; ; attempt++) {
      await mkdir(dirname(target), { recursive: true });
      try {
        await rename(path, target);
        break;
      } catch (error) {
        if (systemCode(error) !== "ENOENT" || attempt === 5 || !(await stat(path).catch(ignoreAbsence)))
          throw error;
      }
    }
    await syncPath(dirname(target)).catch(ignoreAbsence);
  }

  /** Depth first, ordered as the whole keys are by bytes (as S3 lists them). */
  async *#walk(folder: string, prefix: string): AsyncIterable<{ key: string; sizeBytes: number }> {
    const names: string[] = [];
    const entries = await opendir(join(this.#root, folder)).catch(ignoreAbsence);
    if (!entries) return;
    for await (const entry of entries) {
      if (!entry.name.startsWith(".")) names.push(entry.isDirectory() ? `${entry.name}/` : entry.name);
    }
    for (const name of names.sort((a, b) => (a < b ? -1 : 1))) {
      const path = folder + name;
      if (name.endsWith("/")) {
        if (path.startsWith(prefix) || prefix.startsWith(path)) yield* this.#walk(path, prefix);
      } else if (path.startsWith(prefix)) {
        const info = await stat(join(this.#root, path)).catch(ignoreAbsence);
        if (info) yield { key: path, sizeBytes: info.size };
      }
    }
  }
}

/** Removes temporary files older than the given age: what a process that was killed while writing left behind. */
export async function sweepTemporaryFiles(root: string, olderThanMs: number, now: number): Promise<number> {
  const folder = join(resolve(root), TEMPORARY);
  const entries = await opendir(folder).catch(ignoreAbsence);
  let removed = 0;
  if (!entries) return removed;
  for await (const entry of entries) {
    const path = join(folder, entry.name);
    const info = await stat(path).catch(ignoreAbsence);
    if (!info || now - info.mtimeMs < olderThanMs) continue;
    await rm(path, { force: true });
    removed++;
  }
  return removed;
}

function withSignal(stream: FileReader, signal: AbortSignal | undefined): FileReader {
  if (!signal) return stream;
  const onAbort = () => stream.destroy(signal.reason instanceof Error ? signal.reason : new Error("aborted"));
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  stream.once("close", () => signal.removeEventListener("abort", onAbort));
  return stream;
}

async function syncPath(path: string): Promise<void> {
  const handle: FileHandle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const absent = (key: string) => notFound(`There is no object ${key} in the store`);

/** For `.catch`: undefined when the path is not there, the error itself otherwise. */
function ignoreAbsence(error: unknown): undefined {
  const code = systemCode(error);
  if (code === "ENOENT" || code === "ENOTDIR") return undefined;
  throw error;
}

function toStoreError(error: unknown, key: string): unknown {
  const code = systemCode(error);
  if (error instanceof AppError) return error;
  if (code === "ABORT_ERR" || (error instanceof Error && error.name === "AbortError")) {
    return new AppError("cancelled", `Storing ${key} was cancelled`, { cause: error });
  }
  if (isDiskFull(error)) return diskFull(`There is no space left to store ${key}`, { cause: error });
  if (code === "EISDIR" || code === "ENOTDIR" || code === "ENOTEMPTY" || code === "EEXIST") {
    return new AppError("conflict", `${key} cannot be an object: its name is also a folder`, {
      retryable: false,
      cause: error,
    });
  }
  return error;
}
