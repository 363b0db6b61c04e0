/** Keeps the folder of blobs below a size: what was not used for longest goes first. */
import { readdir, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";

export interface BlobLimits {
  maxBytes: number;
  /** Blobs used within this time stay even when the folder is too large: somebody may be reading them. */
  minIdleMs: number;
}

/** Manifests are small, and releases are answered from them while the registry is away. */
const KEPT_BELOW_BYTES = 64 * 1024;

/** Notes that the file was used now: in its access time, which no mount option may then hold back. */
export async function markUsed(path: string): Promise<void> {
  const info = await stat(path).catch(() => null);
  if (info) await utimes(path, new Date(), info.mtime).catch(() => undefined);
}

/** Removes blobs until the folder fits; gives the paths of those removed. A file that is open stays readable. */
export async function evictBlobs(folder: string, { maxBytes, minIdleMs }: BlobLimits): Promise<string[]> {
  const before = Date.now() - minIdleMs;
  const found: { path: string; sizeBytes: number; usedAt: number }[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const info = await stat(path).catch(() => null);
    if (info) found.push({ path, sizeBytes: info.size, usedAt: info.atimeMs });
  }
  let total = found.reduce((sum, blob) => sum + blob.sizeBytes, 0);
  const removed: string[] = [];
  for (const { path, sizeBytes, usedAt } of found.sort((a, b) => a.usedAt - b.usedAt)) {
    if (total <= maxBytes || usedAt > before) break;
    if (sizeBytes < KEPT_BELOW_BYTES) continue;
    await rm(path, { force: true });
    total -= sizeBytes;
    removed.push(path);
  }
  return removed;
}
