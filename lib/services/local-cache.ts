/** Files and folders kept on this machine, named by content: appear whole, are found cheaply, least used go first. */
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

const metaSchema = z.object({
  shape: z.enum(["file", "tree"]),
  sizeBytes: z.number(),
  /** Of a file; null until somebody computed it. */
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
  readonly #checked = new Set<string>();
  #sweeping: Promise<void> | null = null;

  constructor(options: LocalCacheOptions) {
    this.#options = options;
  }

  /** The entry, or null. On first use in this process its size is compared with what was written down. */
  async find(name: string): Promise<CacheEntry | null> {
    const dir = this.#place(name);
    const meta = await readMeta(dir);
    if (meta === null) return null;
    const entry = { path: path.join(dir, "data"), meta };
    if (!this.#checked.has(name) && (await sizeOf(entry.path).catch(() => -1)) !== meta.sizeBytes) {
      await this.drop(name);
      return null;
    }
    this.#checked.add(name);
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
      const full = { ...meta, sizeBytes: await sizeOf(data) };
      await writeFile(path.join(temporary, "meta.json"), JSON.stringify(full));
      await this.#publish(temporary, this.#place(name));
      this.#checked.add(name);
      void this.sweep();
      return { path: path.join(this.#place(name), "data"), meta: full };
    } finally {
      await rm(temporary, { recursive: true, force: true });
    }
  }

  /** Writes down the digest of an entry that was computed after it was kept. */
  async note(name: string, sha256: string): Promise<void> {
    const dir = this.#place(name);
    const meta = await readMeta(dir);
    if (meta === null) return;
    const temporary = path.join(dir, `meta.${randomUUID()}`);
    await writeFile(temporary, JSON.stringify({ ...meta, sha256 }));
    await rename(temporary, path.join(dir, "meta.json"));
  }

  async drop(name: string): Promise<void> {
    this.#checked.delete(name);
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

  async #publish(temporary: string, place: string): Promise<void> {
    await mkdir(path.dirname(place), { recursive: true });
    await rename(temporary, place).catch((error: unknown) => {
      // The name is content: an entry that is there already is as good as ours.
      if (!["ENOTEMPTY", "EEXIST"].includes(codeOf(error))) throw error;
    });
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
    if (codeOf(error) !== "EXDEV") throw error;
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

const codeOf = (error: unknown) => (error instanceof Error && "code" in error ? String(error.code) : "");
