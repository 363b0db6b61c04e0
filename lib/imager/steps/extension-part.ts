/** What a packed extension looks like on disk: extension.json, rootfs.sqsh and what the initramfs takes out of it. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ExtensionMetadata } from "../../formats/extension-manifest.ts";

export interface ExtensionPart {
  metadata: ExtensionMetadata;
  /** True when the file system holds kernel modules. */
  hasModules: boolean;
  /** Folders and files below `staged/`, relative to the root of the initramfs, in sorted order. */
  staged: { path: string; folder: boolean }[];
  /** CPU microcode files below `microcode/`. */
  microcode: string[];
}

/** The file system image inside a packed extension. */
export const squashfsOf = (part: string): string => join(part, "rootfs.sqsh");
export const stagedFolder = (part: string): string => join(part, "staged");
export const microcodeFolder = (part: string): string => join(part, "microcode");

/** Writes the description of a packed extension into its folder. */
export const writeExtensionPart = (part: string, description: ExtensionPart): Promise<void> =>
  writeFile(join(part, "extension.json"), `${JSON.stringify(description, null, 1)}\n`);

/** Reads what writeExtensionPart wrote; the folder comes from our own parts cache. */
export async function parseExtensionPart(part: string): Promise<ExtensionPart> {
  return JSON.parse(await readFile(join(part, "extension.json"), "utf8")) as ExtensionPart;
}

/** Positions 0 to count-1 in the order of their decimal names as strings: 0, 1, 10, 11, 2 — the order of mounting. */
export const extensionOrder = (count: number): number[] =>
  Array.from({ length: count }, (_, index) => String(index))
    .sort()
    .map(Number);
