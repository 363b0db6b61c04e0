/** Step "command-line": the kernel command line as a file, without a line end. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { textParam } from "../params.ts";
import type { StepFunction } from "../types.ts";

/** Params: text. */
export const commandLineStep: StepFunction = async (params, _needs, ctx) => {
  const path = join(ctx.dir, "cmdline");
  await writeFile(path, textParam(params, "text"));
  return { path, shape: "file" };
};
