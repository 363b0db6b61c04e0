/** Files and folders kept on this machine, named by content: whole and unharmed or not there, least used go first. */
import { randomUUID } from "node:crypto";
import {
  cp,
  lstat,
  mkdir,
  opendir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { systemCode } from "../../errors/system-code.ts";
import { contentDigest } from "./content-digest.ts";

const metaSchema = z.object({
  shape: z.enum(["file", "tree"]),
  sizeBytes: z.number(),
  /** See contentDigest; what has none was kept by an older version, and is not believed. */
  sha256: z.string().nullable(),
  selinuxLabels: z.record(z.string(), z.string()).exactOptional(),
});

export type CacheMeta = z.infer<typeof metaSchema>;

export interface CacheEntry {
  /** The kept file or folder; nobody writes to it. */
  path: string;
  meta: CacheMeta;
}

export interface LocalCacheOptions {
  dir: string;
  maxBytes: number;
  /** Entries used within this time stay even when the cache is too large: a build may be reading them. */
  minIdleMs: number;
  onError: (error: unknown) => void;
}

/** Leftovers of a process that died while it wrote. */
const STALE_TEMPORARY_MS = 2 * 3_600_000;

export class LocalCache {
  readonly #options: LocalCacheOptions;
  /** Entries whose bytes this process has read and compared, or is about to. */
  readonly #checks = new Map<string, Promise<boolean>>();
  #sweeping: Promise<void> | null = null;

  constructor(options: LocalCacheOptions) {
    this.#options = options;
  }

  /**
   * The entry, or null. On first use in this process its bytes are compared with the digest that was written down: a
   * power cut may have left a file of the right size without its content.
   */
  async find(name: string): Promise<CacheEntry | null> {
    const dir = this.#place(name);
    const meta = await readMeta(dir);
    if (meta === null) return null;
    const entry = { path: path.join(dir, "data"), meta };
    const check = this.#checks.get(name) ?? this.#check(name, entry);
    this.#checks.set(name, check);
    if (!(await check)) return null;
    const now = new Date();
    await utimes(path.join(dir, "meta.json"), now, now).catch(() => undefined);
    return entry;
  }

  /** Moves a file or folder into the cache. When another process was faster, its entry is given and ours removed. */
  async keep(name: string, source: string, meta: Omit<CacheMeta, "sizeBytes">): Promise<CacheEntry> {
    const temporary = await this.temporary();
    try {
      const data = path.join(temporary, "data");
      await move(source, data);
      const sha256 = meta.sha256 ?? (await contentDigest(data));
      const full = { ...meta, sha256, sizeBytes: await sizeOf(data) };
      await writeFile(path.join(temporary, "meta.json"), JSON.stringify(full));
      if (await this.#publish(temporary, this.#place(name))) this.#checks.set(name, Promise.resolve(true));
      void this.sweep();
      return { path: path.join(this.#place(name), "data"), meta: full };
    } finally {
      await rm(temporary, { recursive: true, force: true });
    }
  }

  async drop(name: string): Promise<void> {
    this.#checks.delete(name);
    const trash = await this.temporary();
    await rename(this.#place(name), path.join(trash, "data")).catch(() => undefined);
    await rm(trash, { recursive: true, force: true });
  }

  /** A fresh folder on the same file system; whoever asked removes it. */
  async temporary(): Promise<string> {
    const dir = path.join(this.#options.dir, "tmp", randomUUID());
    await mkdir(dir, { recursive: true });
    return dir;
  }

  /** Removes leftovers and, when the cache is too large, what was not used for longest. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep()
      .catch(this.#options.onError)
      .finally(() => {
        this.#sweeping = null;
      });
    return this.#sweeping;
  }

  async #sweep(): Promise<void> {
    const now = Date.now();
    await removeOld(path.join(this.#options.dir, "tmp"), now - STALE_TEMPORARY_MS);
    const entries = await this.#entries();
    let total = entries.reduce((sum, entry) => sum + entry.sizeBytes, 0);
    for (const entry of entries.sort((a, b) => a.usedAt - b.usedAt)) {
      if (total <= this.#options.maxBytes || entry.usedAt > now - this.#options.minIdleMs) return;
      await this.drop(entry.name);
      total -= entry.sizeBytes;
    }
  }

  async #entries(): Promise<{ name: string; sizeBytes: number; usedAt: number }[]> {
    const root = path.join(this.#options.dir, "entries");
    const groups = await readdir(root).catch(() => []);
    const found = [];
    for (const group of groups) {
      for (const key of await readdir(path.join(root, group)).catch(() => [])) {
        const name = `${group}/${key}`;
        const meta = await readMeta(this.#place(name));
        const info = await stat(path.join(this.#place(name), "meta.json")).catch(() => null);
        if (meta && info) found.push({ name, sizeBytes: meta.sizeBytes, usedAt: info.mtimeMs });
      }
    }
    return found;
  }

  async #check(name: string, { path: place, meta }: CacheEntry): Promise<boolean> {
    if (meta.sha256 !== null && (await contentDigest(place).catch(() => null)) === meta.sha256) return true;
    if (meta.sha256 !== null)
      this.#options.onError(new Error(`${name} was damaged on disk and is dropped from the cache`));
    await this.drop(name);
    return false;
  }

  /** False when an entry was there already; the name is content, so it is as good as ours. */
  async #publish(temporary: string, place: string): Promise<boolean> {
    await mkdir(path.dirname(place), { recursive: true });
    return rename(temporary, place).then(
      () => true,
      (error: unknown) => {
        if (["ENOTEMPTY", "EEXIST"].includes(systemCode(error) ?? "")) return false;
        throw error;
      },
    );
  }

  #place(name: string): string {
    return path.join(this.#options.dir, "entries", name);
  }
}

async function readMeta(dir: string): Promise<CacheMeta | null> {
  const text = await readFile(path.join(dir, "meta.json"), "utf8").catch(() => null);
  if (text === null) return null;
  try {
    return metaSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

async function move(source: string, target: string): Promise<void> {
  try {
    await rename(source, target);
  } catch (error) {
    if (systemCode(error) !== "EXDEV") throw error;
    await cp(source, target, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
    await rm(source, { recursive: true, force: true });
  }
}

/** Bytes of a file, or of all files below a folder. */
async function sizeOf(target: string): Promise<number> {
  const info = await lstat(target);
  if (!info.isDirectory()) return info.size;
  let total = 0;
  for await (const entry of await opendir(target)) {
    if (!entry.isSymbolicLink()) total += await sizeOf(path.join(target, entry.name));
  }
  return total;
}

async function removeOld(dir: string, before: number): Promise<void> {
  for (const name of await readdir(dir).catch(() => [])) {
    const info = await stat(path.join(dir, name)).catch(() => null);
    if (info !== null && info.mtimeMs < before)
      await rm(path.join(dir, name), { recursive: true, force: true });
  }
}
