/** Step "overlay-install": lets the program of a board overlay write its boot loader and the files of its boot partition. */
import { chmod, lstat, mkdir, rename, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../errors/app-error.ts";
import { SANDBOX } from "../../exec/sandbox.ts";
import { need, numberParam, textParam } from "../params.ts";
import type { StepFunction } from "../types.ts";
import { type CopiedEntry, copyFollowing } from "./copy-following.ts";
import { resolveInside } from "./file-tree.ts";
import { callOverlay } from "./overlay-program.ts";

/** Names in the product. */
export const BOARD_DISK = "disk.raw";
export const BOARD_ESP = "esp";

const TIMEOUT_MS = 300_000;
/** Firmware of boards has tens of MiB. */
const WORK_BYTES = 1024 * 1024 * 1024;
const MOUNT = "mount";
/** Where programs put what belongs at the top of the EFI system partition. */
const STAGED_ESP = `${MOUNT}/boot/EFI`;

/**
 * Params: name, options (YAML text), diskBytes. Needs: the overlay's tree for this machine. The product is a folder with
 * BOARD_DISK, a sparse disk with what was written to it, and BOARD_ESP, the files for the EFI system partition: plain
 * ones, links followed inside the staging folder only.
 */
export const overlayInstallStep: StepFunction = async (params, needs, ctx) => {
  const root = need(needs, 0).path;
  const name = textParam(params, "name");
  const diskBytes = numberParam(params, "diskBytes");
  const folder = join(ctx.dir, "overlay");
  const work = join(ctx.dir, "work");
  await copyArtifacts(root, folder);
  await mkdir(join(work, STAGED_ESP), { recursive: true });
  await writeFile(join(work, BOARD_DISK), "");
  await truncate(join(work, BOARD_DISK), diskBytes);
  const stdin = installInput(textParam(params, "options"));
  await callOverlay(
    {
      ...{ root, name, folder, work, stdin },
      verb: "install",
      workBytes: WORK_BYTES,
      fileBytes: diskBytes,
      timeoutMs: TIMEOUT_MS,
    },
    ctx,
  );
  const product = join(ctx.dir, "board");
  await mkdir(product);
  await takeDisk(name, join(work, BOARD_DISK), diskBytes, join(product, BOARD_DISK));
  await takeFiles(name, work, join(product, BOARD_ESP));
  await Promise.all([work, folder].map((path) => rm(path, { recursive: true, force: true })));
  return { path: product, shape: "tree" };
};

/** Standard input of "install". Options are left out when there are none. */
export function installInput(options: string): string {
  const lines = [
    `installDisk: ${SANDBOX.work}/${BOARD_DISK}`,
    `mountPrefix: ${SANDBOX.work}/${MOUNT}`,
    `artifactsPath: ${SANDBOX.program}/artifacts`,
  ];
  const extra = options.trim() === "{}" ? "" : `extraOptions:\n${options.replace(/^(?=.)/gm, "    ")}`;
  return `${lines.join("\n")}\n${extra}`;
}

/** A copy that every account may read. */
async function copyArtifacts(root: string, folder: string): Promise<void> {
  const target = join(folder, "artifacts");
  await mkdir(target, { recursive: true });
  const there = await resolveInside(root, "artifacts");
  const entries = there === null ? [] : await copyFollowing(root, "artifacts", target);
  await setModes(target, entries);
}

async function setModes(target: string, entries: CopiedEntry[]): Promise<void> {
  await chmod(target, 0o755);
  for (const { path, folder } of entries) await chmod(join(target, path), folder ? 0o755 : 0o644);
}

const refusal = (name: string, what: string): AppError =>
  new AppError("source_invalid", `the board overlay ${name} ${what}`, { retryable: false });

async function takeDisk(name: string, from: string, diskBytes: number, to: string): Promise<void> {
  const stats = await lstat(from).catch(() => null);
  if (!stats?.isFile()) throw refusal(name, "replaced the disk by something else");
  if (stats.size !== diskBytes) throw refusal(name, `changed the size of the disk to ${stats.size} bytes`);
  await rename(from, to);
}

async function takeFiles(name: string, work: string, target: string): Promise<void> {
  const staged = await resolveInside(work, STAGED_ESP);
  if (staged === null || !(await lstat(staged)).isDirectory()) {
    throw refusal(name, "removed the folder for its boot files");
  }
  const entries = await copyFollowing(work, staged.slice(work.length + 1), target);
  await setModes(target, entries);
}
