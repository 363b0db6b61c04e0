/** Puts the finished file where the person wants it: into a folder, or as an archive on standard output. */
import { createReadStream, existsSync } from "node:fs";
import { copyFile, mkdir, rename } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { RunTool } from "../lib/exec/run.ts";
import { SOURCE_DATE_EPOCH } from "../lib/imager/epoch.ts";

/** Where imager containers have their output mounted. */
const CONTAINER_OUTPUT = "/out";

/** The folder to write to: what is asked for, else /out when there is one, else the working folder. */
export function outputFolder(asked: string | undefined, workingFolder: string): string {
  if (asked !== undefined) return resolve(workingFolder, asked);
  return existsSync(CONTAINER_OUTPUT) ? CONTAINER_OUTPUT : workingFolder;
}

/** Moves the file under its name into the folder; it appears there whole. Gives its path. */
export async function deliverFile(file: string, folder: string, name: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const target = join(folder, name);
  await move(file, target);
  return target;
}

async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EXDEV")) throw error;
    await copyFile(from, `${to}.part`);
    await rename(`${to}.part`, to);
  }
}

/** Writes a gzip-compressed tar with the file to `out`; equal files give equal archives. */
export async function deliverArchive(
  file: string,
  name: string,
  scratch: string,
  run: RunTool,
  out: Writable,
): Promise<void> {
  const folder = join(scratch, "out");
  await deliverFile(file, folder, name);
  const archive = join(scratch, "out.tar.gz");
  const fixed = ["--owner=0", "--group=0", "--numeric-owner", "--mode=0644", `--mtime=@${SOURCE_DATE_EPOCH}`];
  const args = ["--create", "--sparse", "--use-compress-program=gzip -n", ...fixed, "-C", folder, name];
  await run("tar", args, { stdoutFile: archive });
  await pipeline(createReadStream(archive), out, { end: false });
}
