/** Writes a .zst file of several frames: one per run of data, one per run of zeros, finished ones for known files. */
import { open } from "node:fs/promises";
import { join } from "node:path";
import { zstdZeroFrame } from "../../formats/zstd-container.ts";
import type { StepContext } from "../types.ts";
import { Output } from "./output.ts";
import type { PackJob } from "./xz.ts";

/** Level and threads are fixed: the bytes must not depend on the machine. docs/adr/0002 tells why this level. */
const ZSTD_ARGS = ["-6", "-T2", "-q", "--check", "-c"];
/** Frames of zeros are cut here, so that a decoder which reserves the content size of a frame stays small. */
const LONGEST_ZERO_FRAME = 1024 * 1024 * 1024;

/** Packs the job as .zst. Every frame carries its content size, those with data a checksum too. */
export async function packZstd(job: PackJob, ctx: StepContext): Promise<void> {
  const frames = await compressRuns(job, ctx);
  const output = await Output.create(job.output);
  try {
    for (const [index, segment] of job.segments.entries()) {
      ctx.signal.throwIfAborted();
      if (segment.kind === "zeros") {
        for (let rest = segment.length; rest > 0; rest -= LONGEST_ZERO_FRAME) {
          await output.write(zstdZeroFrame(Math.min(rest, LONGEST_ZERO_FRAME)));
        }
        continue;
      }
      const path = segment.kind === "known" ? job.parts[segment.index] : frames.get(index);
      if (path === undefined) throw new Error("a packed part is missing");
      const frame = await open(path, "r");
      try {
        await output.copy(frame, 0, (await frame.stat()).size);
      } finally {
        await frame.close();
      }
    }
  } finally {
    await output.close();
  }
}

/** Compresses every run of data into a file of its own; gives the files by segment number. */
async function compressRuns(job: PackJob, ctx: StepContext): Promise<Map<number, string>> {
  const frames = new Map<number, string>();
  for (const [index, segment] of job.segments.entries()) {
    if (segment.kind !== "data") continue;
    const plain = join(ctx.dir, `run-${index}`);
    const run = await Output.create(plain);
    try {
      await run.copy(job.source, segment.offset, segment.length);
    } finally {
      await run.close();
    }
    const frame = `${plain}.zst`;
    await ctx.run("zstd", [...ZSTD_ARGS, plain], { stdoutFile: frame, signal: ctx.signal });
    frames.set(index, frame);
  }
  return frames;
}
