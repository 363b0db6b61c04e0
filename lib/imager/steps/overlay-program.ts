/** Starts the program of a board overlay: found in the overlay's tree, run in a sandbox, answered in its own words. */
import { chmod, copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../errors/app-error.ts";
import { runSandboxed } from "../../exec/sandbox.ts";
import type { StepContext } from "../types.ts";
import { resolveInside } from "./file-tree.ts";

const NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;

/** Place of the installer program in the overlay's tree; not_found when the overlay has none of that name. */
export async function findInstaller(root: string, name: string): Promise<string> {
  const installer = NAME.test(name) ? await resolveInside(root, `installers/${name}`) : null;
  if (installer !== null) return installer;
  throw new AppError("not_found", `the overlay image has no installer for the board ${name}`, {
    retryable: false,
  });
}

export interface OverlayCall {
  /** The overlay's tree for this machine. */
  root: string;
  name: string;
  verb: "get-options" | "install";
  stdin: string;
  /** Folder the program sees besides its own copy, made by the caller; it may hold artifacts/ already. */
  folder: string;
  work?: string;
  workBytes?: number;
  fileBytes?: number;
  timeoutMs: number;
}

/** Runs one verb and gives standard output. The program is copied, so that any account may run it. */
export async function callOverlay(call: OverlayCall, ctx: StepContext): Promise<string> {
  const { root, name, verb, stdin, folder, timeoutMs } = call;
  const program = await findInstaller(root, name);
  await mkdir(join(folder, "installers"), { recursive: true });
  await copyFile(program, join(folder, "installers", name));
  for (const path of [folder, join(folder, "installers"), join(folder, "installers", name)])
    await chmod(path, 0o755);
  const { stdout, stderr } = await runSandboxed(ctx.run, {
    title: `the program of the board overlay ${name} (${verb})`,
    program: folder,
    executable: `installers/${name}`,
    args: [verb],
    stdin: new TextEncoder().encode(stdin),
    timeoutMs,
    signal: ctx.signal,
    ...(call.work === undefined ? {} : { work: call.work }),
    ...(call.workBytes === undefined ? {} : { workBytes: call.workBytes }),
    ...(call.fileBytes === undefined ? {} : { fileBytes: call.fileBytes }),
  });
  for (const line of stderr.split("\n").filter(Boolean)) ctx.log(`${name}: ${line}`);
  return stdout;
}
