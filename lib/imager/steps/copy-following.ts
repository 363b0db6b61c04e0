/** Copies part of an image tree as plain files: links become what they point at, never anything outside the image. */
import { copyFile, lstat, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { invalidInput } from "../../errors/app-error.ts";
import { resolveInside } from "./file-tree.ts";

const MOST_FILES = 100_000;
const DEEPEST = 40;

export interface CopiedEntry {
  /** Relative to the target folder. */
  path: string;
  folder: boolean;
}

/**
 * Copies the folder `from` (relative to `root`) to `to`, replacing files that are there; entries for which `skip`
 * says true stay out. Gives what was written, parents first, names in byte order.
 */
export async function copyFollowing(
  root: string,
  from: string,
  to: string,
  skip: (path: string) => boolean = () => false,
): Promise<CopiedEntry[]> {
  const copied: CopiedEntry[] = [];
  const visit = async (source: string, path: string, depth: number): Promise<void> => {
    if (depth > DEEPEST) throw invalidInput(`${from} in the image is nested too deeply`);
    for (const name of (await readdir(join(root, source))).sort()) {
      const inside = `${source}/${name}`;
      if (skip(inside)) continue;
      if (copied.length >= MOST_FILES)
        throw invalidInput(`${from} in the image holds more than ${MOST_FILES} files`);
      const real = await resolveInside(root, inside);
      const stats = real === null ? null : await lstat(real);
      if (real === null || stats === null)
        throw invalidInput(`the link ${inside} in the image points to nothing`);
      // Reading a pipe would wait for ever.
      if (!stats.isFile() && !stats.isDirectory())
        throw invalidInput(`${inside} in the image is neither a file nor a folder`);
      const target = path === "" ? name : `${path}/${name}`;
      copied.push({ path: target, folder: stats.isDirectory() });
      if (stats.isDirectory()) {
        await mkdir(join(to, target), { recursive: true });
        await visit(real.slice(root.length + 1), target, depth + 1);
      } else {
        // A file that is there may have other names: it is replaced, not written to.
        await rm(join(to, target), { force: true });
        await copyFile(real, join(to, target));
      }
    }
  };
  await mkdir(to, { recursive: true });
  await visit(from, "", 0);
  return copied;
}
