/** Folders as one file for the object store: equal folders give equal archives. */
import { mkdir } from "node:fs/promises";
import type { RunTool } from "../../exec/run.ts";

const FIXED = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "--format=gnu"];

/** Writes all below `dir` into a tar file. */
export async function packTree(run: RunTool, dir: string, file: string): Promise<void> {
  await run("tar", ["--create", `--file=${file}`, `--directory=${dir}`, ...FIXED, "."]);
}

/** Unpacks what packTree wrote into a new folder; modes are kept, owners are whoever runs this. */
export async function unpackTree(
  run: RunTool,
  file: string,
  dir: string,
  signal: AbortSignal,
): Promise<void> {
  await mkdir(dir, { recursive: true });
  const flags = ["--no-same-owner", "--preserve-permissions"];
  await run("tar", ["--extract", `--file=${file}`, `--directory=${dir}`, ...flags], { signal });
}
