/** Step disk-esp: the EFI system partition of a disk as a FAT32 image, made without mounting anything. */
import { truncate, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { EPOCH_ENVIRONMENT } from "../epoch.ts";
import { listParam, need, numberParam, textParam } from "../params.ts";
import type { Product, StepFunction } from "../types.ts";

/**
 * Params: sizeBytes, sectorSize (512 or 4096) and files, a list of { path, need, member } or { path, text }; a file's
 * content is the product number `need` (its `member` when that is a folder), or the text. Folders are made in the order in which paths mention them. mtools takes
 * its clock from the environment, so dates inside the file system are fixed.
 */
export const diskEsp: StepFunction = async (params, needs, ctx) => {
  const image = join(ctx.dir, "esp.img");
  const files = listParam(params, "files");
  const sectorSize = numberParam(params, "sectorSize");
  const options = { env: EPOCH_ENVIRONMENT, signal: ctx.signal };
  await writeFile(image, "");
  await truncate(image, numberParam(params, "sizeBytes"));
  const sector = sectorSize === 512 ? [] : ["-S", String(sectorSize)];
  await ctx.run("mkfs.vfat", ["-F", "32", "-n", "EFI", "--invariant", ...sector, image], options);
  const folders = foldersOf(files.map((file) => textParam(file, "path")));
  await ctx.run("mmd", ["-i", image, ...folders.map((folder) => `::/${folder}`)], options);
  for (const [index, file] of files.entries()) {
    const path = textParam(file, "path");
    const source = await contentOf(file, needs, join(ctx.dir, `text-${index}`));
    await ctx.run("mcopy", ["-Q", "-i", image, source, `::/${path}`], options);
    ctx.progress(Math.round((100 * (index + 1)) / files.length), path);
  }
  return { path: image, shape: "file" };
};

/** Parent folders of the paths, each once, every folder after the one it lies in. */
function foldersOf(paths: readonly string[]): string[] {
  const folders = new Set<string>();
  const add = (folder: string): void => {
    if (folder === "." || folders.has(folder)) return;
    add(dirname(folder));
    folders.add(folder);
  };
  for (const path of paths) add(dirname(path));
  return [...folders];
}

async function contentOf(
  file: Parameters<typeof textParam>[0],
  needs: readonly Product[],
  scratch: string,
): Promise<string> {
  if (file.text === undefined) {
    const { path } = need(needs, numberParam(file, "need"));
    return file.member === undefined ? path : join(path, textParam(file, "member"));
  }
  await writeFile(scratch, textParam(file, "text"));
  return scratch;
}
