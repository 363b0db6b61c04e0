/** Step qcow2: the disk as a QEMU image. */
import { join } from "node:path";
import { need, textParam } from "../params.ts";
import type { StepFunction } from "../types.ts";

/** Small clusters keep the file close to the size of the data. */
const DEFAULT_OPTIONS = "cluster_size=8k";

/** Params: options (for qemu-img -o, empty for the default). Needs: the disk. */
export const qcow2: StepFunction = async (params, needs, ctx) => {
  const path = join(ctx.dir, "disk.qcow2");
  const options = textParam(params, "options") || DEFAULT_OPTIONS;
  const args = ["convert", "-f", "raw", "-O", "qcow2", "-o", options, need(needs, 0).path, path];
  await ctx.run("qemu-img", args, { signal: ctx.signal });
  return { path, shape: "file" };
};
