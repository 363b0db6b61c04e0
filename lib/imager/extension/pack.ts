/** Packs the folder of an extension as one image layer: the same folder gives the same bytes. */
import { lstat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { invalidInput } from "../../errors/app-error.ts";
import { runTool } from "../../exec/run.ts";
import { SOURCE_DATE_EPOCH } from "../epoch.ts";
import { type LayerMember, packLayer } from "../pack/layer.ts";
import { FileMap, type MappedFile } from "./file-map.ts";
import type { ExtensionTree, PackedLayer } from "./types.ts";

const SELINUX = "SCHILY.xattr.security.selinux";
/** What a person's umask decides about is not part of an extension. */
const OTHERS_MAY_WRITE = 0o022;

/** Writes manifest.yaml and rootfs, nothing else, owner root, one fixed time, sorted by name, as tar.gz. */
export async function packExtension(
  tree: ExtensionTree,
  outFile: string,
  signal: AbortSignal,
): Promise<PackedLayer> {
  const labels = new Map(
    Object.entries(tree.selinuxLabels ?? {}).map(([path, label]) => [
      path.replace(/^(\.?\/)+|\/+$/g, ""),
      label,
    ]),
  );
  const manifest = await lstat(join(tree.dir, "manifest.yaml"));
  const rootfs = await lstat(join(tree.dir, "rootfs"));
  const top: MappedFile[] = [
    { path: "manifest.yaml", kind: "file", mode: manifest.mode & 0o7777, sizeBytes: manifest.size },
    { path: "rootfs", kind: "folder", mode: rootfs.mode & 0o7777, sizeBytes: 0 },
  ];
  const map = await FileMap.of(join(tree.dir, "rootfs"), signal);
  const below = map.all().map((entry) => ({ ...entry, path: `rootfs/${entry.path}` }));
  const members = [...top, ...below].map((entry) => toMember(tree.dir, entry, labels.get(entry.path)));
  const packed = await packLayer(members, outFile, { dir: dirname(outFile), run: runTool, signal });
  return { file: outFile, ...packed };
}

function toMember(dir: string, entry: MappedFile, label: string | undefined): LayerMember {
  const { path, kind, sizeBytes, linkTo } = entry;
  if (kind === "special") throw invalidInput(`${path} is neither a file nor a folder nor a link`);
  return {
    name: path,
    kind,
    mode: kind === "link" ? 0o777 : entry.mode & ~OTHERS_MAY_WRITE,
    mtime: SOURCE_DATE_EPOCH,
    content: kind === "file" ? { file: join(dir, path), sizeBytes } : null,
    ...(linkTo === undefined ? {} : { linkTo }),
    ...(label === undefined ? {} : { records: { [SELINUX]: label } }),
  };
}
