/** The files a board overlay wants on the EFI system partition, and how they get into its FAT image. */
import { dirname, join } from "node:path";
import { AppError } from "../../errors/app-error.ts";
import type { RunOptions } from "../../exec/run.ts";
import type { Product, StepContext } from "../types.ts";
import { walkTree } from "./file-tree.ts";
import { BOARD_ESP } from "./overlay-install.ts";

export interface BoardFiles {
  /** Folder the paths are relative to. */
  root: string;
  /** Files in byte order. */
  paths: string[];
  sizeBytes: number;
  /** True when there is a file of that name; FAT does not tell case apart. */
  has(path: string): boolean;
}

export const NO_BOARD: BoardFiles = { root: "", paths: [], sizeBytes: 0, has: () => false };

/** What FAT long names can hold (Microsoft FAT specification), less what mtools reads in a way of its own. */
const FAT_NAME = /^[^\p{Cc}"*/:<>?\\|]{1,255}$/u;
/** mcopy is started once per folder and so many files. */
const FILES_AT_ONCE = 200;

const refused = (message: string): AppError =>
  new AppError("source_invalid", `the board overlay ${message}`, { retryable: false });

/** Reads the product of the step overlay-install. source_invalid for names that FAT cannot hold or cannot tell apart. */
export async function boardFiles({ path }: Product): Promise<BoardFiles> {
  const root = join(path, BOARD_ESP);
  const entries = await walkTree(root);
  const names = new Map<string, string>();
  for (const entry of entries) {
    if (!entry.path.split("/").every((part) => FAT_NAME.test(part))) {
      throw refused(`has a file named ${JSON.stringify(entry.path)}, which the boot partition cannot hold`);
    }
    const known = names.get(entry.path.toLowerCase());
    if (known !== undefined)
      throw refused(`has both ${known} and ${entry.path}, which the boot partition cannot hold`);
    names.set(entry.path.toLowerCase(), entry.path);
  }
  const files = entries.filter(({ kind }) => kind === "file");
  return {
    root,
    paths: files.map((file) => file.path),
    sizeBytes: files.reduce((total, { sizeBytes }) => total + sizeBytes, 0),
    has: (name) => names.has(name.toLowerCase()),
  };
}

/** source_invalid when the files cannot fit into a partition of `sizeBytes`. */
export function requireRoom(board: BoardFiles, sizeBytes: number): void {
  const mib = (bytes: number) => `${Math.ceil(bytes / 1024 / 1024)} MiB`;
  if (board.sizeBytes < sizeBytes) return;
  throw refused(`has ${mib(board.sizeBytes)} of boot files for a partition of ${mib(sizeBytes)}`);
}

/** Copies the files into the image, in which all `folders` exist. The order of directory entries is fixed. */
export async function copyBoardFiles(
  board: BoardFiles,
  image: string,
  folders: readonly string[],
  options: RunOptions,
  ctx: StepContext,
): Promise<void> {
  for (const folder of [".", ...folders]) {
    const inside = board.paths.filter((path) => sameFolder(dirname(path), folder));
    for (let at = 0; at < inside.length; at += FILES_AT_ONCE) {
      const sources = inside.slice(at, at + FILES_AT_ONCE).map((path) => join(board.root, path));
      const target = folder === "." ? "::/" : `::/${folder}/`;
      await ctx.run("mcopy", ["-Q", "-i", image, ...sources, target], options);
    }
  }
}

const sameFolder = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
