/** Step "copy": the input itself is the asset, under a new name. */
import { copyFile, link } from "node:fs/promises";
import { join } from "node:path";
import { need } from "../params.ts";
import type { StepFunction } from "../types.ts";

/** Needs: the file. A hard link where the file system allows one, else a copy. */
export const copyStep: StepFunction = async (_params, needs, ctx) => {
  const source = need(needs, 0).path;
  const path = join(ctx.dir, "copy");
  await link(source, path).catch(() => copyFile(source, path));
  return { path, shape: "file" };
};
