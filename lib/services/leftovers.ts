/** What processes leave that were killed while they unpacked something. */
import { readdir, rm, stat } from "node:fs/promises";
import path from "node:path";

/** Nothing is at work for so long. */
const LEFTOVER_MS = 24 * 3_600_000;

/** Removes what lies in these folders unchanged for a day. A folder that is not there is left out. */
export async function removeLeftovers(folders: readonly string[], now: number): Promise<void> {
  for (const folder of folders) {
    for (const name of await readdir(folder).catch(() => [])) {
      const left = path.join(folder, name);
      const found = await stat(left).catch(() => null);
      if (found !== null && now - found.mtimeMs > LEFTOVER_MS)
        await rm(left, { recursive: true, force: true });
    }
  }
}
