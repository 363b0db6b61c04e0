/** A small file tree in memory: what a layer, a folder on disk or an extension is made of. */
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { pack } from "tar-stream";
import { SAMPLE_EPOCH } from "./releases.ts";

export type TreeNode =
  | { bytes: Uint8Array; mode?: number; selinux?: string }
  | { symlink: string }
  | { hardlink: string }
  /** An empty folder. */
  | { folder: true };
/** Path without leading slash → node. Folders follow from the paths. */
export type Tree = Map<string, TreeNode>;

/** A text file of a tree. */
export const text = (content: string, mode = 0o644): TreeNode => ({ bytes: Buffer.from(content), mode });

/** A file of the disk as a node of a tree. */
export const copyOf = async (path: string, mode = 0o644): Promise<TreeNode> => ({
  bytes: await readFile(path),
  mode,
});

/** The tree under another folder. */
export const under = (folder: string, tree: Tree): Tree =>
  new Map(
    [...tree].map(([path, node]) => [
      `${folder}/${path}`,
      "hardlink" in node ? { hardlink: `${folder}/${node.hardlink}` } : node,
    ]),
  );

/** Every folder that the paths need, parents first. */
function foldersOf(tree: Tree): string[] {
  const folders = new Set<string>();
  for (const path of tree.keys()) {
    const parts = path.split("/").slice(0, -1);
    parts.forEach((_, index) => {
      folders.add(parts.slice(0, index + 1).join("/"));
    });
  }
  return [...folders];
}

/** A tar of the tree: byte order, ids 0, one mtime, SELinux labels as PAX records. */
export async function tarOf(tree: Tree): Promise<Buffer> {
  const archive = pack();
  const bytes = buffer(archive);
  const common = { uid: 0, gid: 0, mtime: new Date(SAMPLE_EPOCH * 1000) };
  const names = [...foldersOf(tree).map((folder) => `${folder}/`), ...tree.keys()];
  for (const name of names.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))) {
    const node = tree.get(name);
    if (!node || "folder" in node) archive.entry({ ...common, name, type: "directory", mode: 0o755 });
    else if ("symlink" in node)
      archive.entry({ ...common, name, type: "symlink", linkname: node.symlink, mode: 0o777 });
    else if ("hardlink" in node) archive.entry({ ...common, name, type: "link", linkname: node.hardlink });
    else {
      const pax = node.selinux ? { pax: { "SCHILY.xattr.security.selinux": node.selinux } } : {};
      archive.entry({ ...common, name, mode: node.mode ?? 0o644, ...pax }, Buffer.from(node.bytes));
    }
  }
  archive.finalize();
  return bytes;
}

/** Writes the tree below a folder of the disk (hard links are left out: no tree on disk needs them). */
export async function writeTree(dir: string, tree: Tree): Promise<void> {
  for (const [path, node] of tree) {
    const target = join(dir, path);
    await mkdir(dirname(target), { recursive: true });
    if ("folder" in node) await mkdir(target, { recursive: true });
    else if ("symlink" in node) await symlink(node.symlink, target);
    else if ("bytes" in node) await writeFile(target, node.bytes, { mode: node.mode ?? 0o644 });
  }
}
