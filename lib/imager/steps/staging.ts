/** The files that are appended to an initramfs: what stands where, gathered from the packed extensions. */
import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError, invalidInput } from "../../errors/app-error.ts";
import { extensionsYaml } from "../../formats/extension-manifest.ts";
import { need } from "../params.ts";
import type { Product } from "../types.ts";
import {
  extensionOrder,
  microcodeFolder,
  parseExtensionPart,
  squashfsOf,
  stagedFolder,
} from "./extension-part.ts";
import { MODULE_INDEX_STATE } from "./module-index.ts";
import type { Piece } from "./write-pieces.ts";

export interface StagedEntry {
  path: string;
  /** Null for a folder. */
  content: { pieces: Piece[]; sizeBytes: number } | null;
}

const MICROCODE_FOLDER = "kernel/x86/microcode";

/** Everything to append, in the order of a sorted walk: names in byte order, each folder before its children. */
export async function gatherStaging(moduleIndex: Product, extensions: Product[]): Promise<StagedEntry[]> {
  const staging = new Map<string, StagedEntry>();
  const microcode = new Map<string, string[]>();
  const layers: Parameters<typeof extensionsYaml>[0] = [];
  for (const position of extensionOrder(extensions.length)) {
    const { path } = need(extensions, position);
    const part = await parseExtensionPart(path);
    const image = `${position}.sqsh`;
    layers.push({ image, metadata: part.metadata });
    await stageFile(staging, image, squashfsOf(path));
    for (const { path: staged, folder } of part.staged) {
      if (folder) stageFolder(staging, staged);
      else await stageFile(staging, staged, join(stagedFolder(path), staged));
    }
    for (const blob of part.microcode) {
      microcode.set(blob, [...(microcode.get(blob) ?? []), join(microcodeFolder(path), blob)]);
    }
  }
  if (await hasModuleIndex(moduleIndex)) {
    layers.push({
      image: "modules.dep.sqsh",
      metadata: (await parseExtensionPart(moduleIndex.path)).metadata,
    });
    await stageFile(staging, "modules.dep.sqsh", squashfsOf(moduleIndex.path));
  }
  await stageMicrocode(staging, microcode);
  const yaml = new TextEncoder().encode(extensionsYaml(layers));
  staging.set("extensions.yaml", {
    path: "extensions.yaml",
    content: { pieces: [yaml], sizeBytes: yaml.length },
  });
  return [...staging.values()].sort((a, b) => compareWalk(a.path, b.path));
}

async function hasModuleIndex(product: Product): Promise<boolean> {
  const state: unknown = JSON.parse(await readFile(join(product.path, MODULE_INDEX_STATE), "utf8"));
  if (typeof state !== "object" || state === null || !("present" in state)) {
    throw new AppError("internal", "the module index has no state", { retryable: false });
  }
  return state.present === true;
}

function stageFolder(staging: Map<string, StagedEntry>, path: string): void {
  const known = staging.get(path);
  if (known && known.content !== null) throw clash(path);
  if (!known) staging.set(path, { path, content: null });
}

async function stageFile(staging: Map<string, StagedEntry>, path: string, file: string): Promise<void> {
  if (staging.get(path)?.content === null) throw clash(path);
  const sizeBytes = (await lstat(file)).size;
  staging.set(path, { path, content: { pieces: [{ file, length: sizeBytes }], sizeBytes } });
}

async function stageMicrocode(
  staging: Map<string, StagedEntry>,
  blobs: Map<string, string[]>,
): Promise<void> {
  if (blobs.size === 0) return;
  for (const folder of ["kernel", "kernel/x86", MICROCODE_FOLDER]) stageFolder(staging, folder);
  for (const [blob, files] of blobs) {
    const sizes = await Promise.all(files.map(async (file) => (await lstat(file)).size));
    const path = `${MICROCODE_FOLDER}/${blob}`;
    const sizeBytes = sizes.reduce((total, size) => total + size, 0);
    staging.set(path, { path, content: { pieces: files.map((file) => ({ file })), sizeBytes } });
  }
}

const clash = (path: string): AppError =>
  invalidInput(`two extensions disagree about ${path}: one has a folder there, the other a file`);

/** Order of a walk: "usr/lib" comes before "usr.txt", because folders are entered at once. */
export function compareWalk(a: string, b: string): number {
  const left = a.split("/");
  const right = b.split("/");
  for (const [index, part] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    if (part !== other) return Buffer.compare(Buffer.from(part), Buffer.from(other));
  }
  return left.length - right.length;
}
