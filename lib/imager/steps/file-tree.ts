/** Walks an unpacked image tree in a fixed order and resolves its links without ever leaving it. */
import { lstat, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { invalidInput } from "../../errors/app-error.ts";

export interface TreeEntry {
  /** Relative to the walked folder, "/" between the parts. */
  path: string;
  kind: "folder" | "file" | "link";
  /** Permission bits. */
  mode: number;
  sizeBytes: number;
  /** Set for links. */
  linkTo?: string;
}

/** More than any image has; stops link mazes. */
const MOST_ENTRIES = 200_000;
const MOST_LINKS = 40;

/** All entries below `root`, every folder before its children, names in byte order. Other file types are refused. */
export async function walkTree(root: string): Promise<TreeEntry[]> {
  const entries: TreeEntry[] = [];
  const visit = async (prefix: string): Promise<void> => {
    const names = (await readdir(join(root, prefix))).sort();
    for (const name of names) {
      if (entries.length >= MOST_ENTRIES)
        throw invalidInput(`the image holds more than ${MOST_ENTRIES} files`);
      const path = prefix === "" ? name : `${prefix}/${name}`;
      const entry = await describeEntry(root, path);
      entries.push(entry);
      if (entry.kind === "folder") await visit(path);
    }
  };
  await visit("");
  return entries;
}

async function describeEntry(root: string, path: string): Promise<TreeEntry> {
  const full = join(root, path);
  const stats = await lstat(full);
  const mode = stats.mode & 0o7777;
  if (stats.isDirectory()) return { path, kind: "folder", mode, sizeBytes: 0 };
  if (stats.isFile()) return { path, kind: "file", mode, sizeBytes: stats.size };
  if (stats.isSymbolicLink()) return { path, kind: "link", mode, sizeBytes: 0, linkTo: await readlink(full) };
  throw invalidInput(`${path} in the image is neither a file nor a folder nor a link`);
}

/**
 * The real place of `path` inside `root` after following every link as if `root` were "/". Null when nothing is
 * there. A link that goes round in circles is invalid_input.
 */
export async function resolveInside(root: string, path: string): Promise<string | null> {
  let waiting = path.split("/").filter(Boolean);
  let done: string[] = [];
  for (let links = 0; ; ) {
    const [part, ...rest] = waiting;
    if (part === undefined) return join(root, ...done);
    waiting = rest;
    if (part === ".") continue;
    if (part === "..") {
      done = done.slice(0, -1);
      continue;
    }
    const stats = await lstat(join(root, ...done, part)).catch(() => null);
    if (stats === null) return null;
    if (!stats.isSymbolicLink()) {
      done.push(part);
      continue;
    }
    links += 1;
    if (links > MOST_LINKS) throw invalidInput(`the link ${path} in the image goes round in circles`);
    const target = await readlink(join(root, ...done, part));
    if (target.startsWith("/")) done = [];
    waiting = [...target.split("/").filter(Boolean), ...waiting];
  }
}
