/** Step disk-esp: the EFI system partition of a disk as a FAT image, made without mounting anything. */
import { truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EPOCH_ENVIRONMENT } from "../epoch.ts";
import { listParam, need, numberParam, textParam } from "../params.ts";
import { parentFolders } from "../parent-folders.ts";
import type { Product, StepFunction } from "../types.ts";
import { boardFiles, copyBoardFiles, NO_BOARD, requireRoom } from "./board-files.ts";

/** With fewer, readers take a file system for FAT16, whatever it says (Microsoft FAT specification 1.03, page 14). */
const FAT32_LEAST_CLUSTERS = 65_525;

/**
 * Params: sizeBytes, sectorSize (512 or 4096) and files, a list of { path, need, member } or { path, text }; a file's
 * content is the product number `need` (its `member` when that is a folder), or the text. Folders are made in the order in which paths mention them. mtools takes
 * its clock from the environment, so dates inside the file system are fixed. `tree`, the number of a product of the step
 * overlay-install, adds the files of a board; where it has a file of the same name as one of ours, the board's is taken.
 */
export const diskEsp: StepFunction = async (params, needs, ctx) => {
  const image = join(ctx.dir, "esp.img");
  const board =
    params.tree === undefined ? NO_BOARD : await boardFiles(need(needs, numberParam(params, "tree")));
  const files = listParam(params, "files").filter((file) => !board.has(textParam(file, "path")));
  const sectorSize = numberParam(params, "sectorSize");
  const options = { env: EPOCH_ENVIRONMENT, signal: ctx.signal };
  await writeFile(image, "");
  const sizeBytes = numberParam(params, "sizeBytes");
  await truncate(image, sizeBytes);
  const sector = sectorSize === 512 ? [] : ["-S", String(sectorSize)];
  const fat = sizeBytes < FAT32_LEAST_CLUSTERS * sectorSize ? "16" : "32";
  await ctx.run("mkfs.vfat", ["-F", fat, "-n", "EFI", "--invariant", ...sector, image], options);
  requireRoom(board, sizeBytes);
  const folders = parentFolders([...files.map((file) => textParam(file, "path")), ...board.paths]);
  await ctx.run("mmd", ["-i", image, ...folders.map((folder) => `::/${folder}`)], options);
  for (const [index, file] of files.entries()) {
    const path = textParam(file, "path");
    const source = await contentOf(file, needs, join(ctx.dir, `text-${index}`));
    await ctx.run("mcopy", ["-Q", "-i", image, source, `::/${path}`], options);
    ctx.progress(Math.round((100 * (index + 1)) / files.length), path);
  }
  await copyBoardFiles(board, image, folders, options, ctx);
  return { path: image, shape: "file" };
};

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
