/** Writes a .zst file of several frames: one per piece of data, one per run of zeros, finished ones for known files. */
import { open } from "node:fs/promises";
import { join } from "node:path";
import pLimit from "p-limit";
import { zstdZeroFrame } from "../../formats/zstd-container.ts";
import type { StepContext } from "../types.ts";
import { chunksOf, readBytes, sampledRatio, WORTHWHILE } from "./chunks.ts";
import type { PackJob } from "./job.ts";
import { Output } from "./output.ts";

/** One thread each: the bytes must not depend on the machine. docs/adr/0005 has the figures behind the levels. */
const ARGS = ["--single-thread", "-q", "--check", "-c"];
const LEVELS = {
  /**
   * For parts, which are packed once and used often, where they shrink easily. What makes level 18 small on machine
   * code is that it takes matches of three bytes; with a short search that costs a seventh of the time.
   */
  best: ["-3", "--zstd=strategy=7,searchLog=2,minMatch=3,targetLength=16"],
  /** What shrinks a little gains nothing from a slow search, and the rest of a disk is made anew each time. */
  good: ["-6"],
  /** For what does not shrink: the compressor only looks at it and stores it. */
  fast: ["-1"],
};
/** Samples that become smaller than this mark data that shrinks easily. */
const EASY = 0.9;
/** Longer data is cut here, so that two processors share a kernel; smaller pieces would compress worse. */
const LONGEST_PIECE = 4 * 1024 * 1024;
const PARALLEL = 2;
/** Frames of zeros are cut here, for decoders that reserve the content size of a frame. */
const LONGEST_ZERO_FRAME = 1024 * 1024 * 1024;

type Level = keyof typeof LEVELS;

interface Piece {
  offset: number;
  length: number;
  level: Level;
}

/** Packs the job as .zst. Every frame carries its content size, those with data a checksum too. */
export async function packZstd(job: PackJob, ctx: StepContext): Promise<void> {
  const frames = await compressData(job, ctx);
  const output = await Output.create(job.output);
  try {
    for (const [index, segment] of job.segments.entries()) {
      ctx.signal.throwIfAborted();
      if (segment.kind === "zeros") {
        for (let rest = segment.length; rest > 0; rest -= LONGEST_ZERO_FRAME) {
          await output.write(zstdZeroFrame(Math.min(rest, LONGEST_ZERO_FRAME)));
        }
      } else {
        const part = segment.kind === "known" ? job.parts[segment.index] : undefined;
        const files = part === undefined ? (frames.get(index) ?? []) : [part];
        for (const path of files) await appendFile(output, path);
      }
    }
  } finally {
    await output.close();
  }
}

async function appendFile(output: Output, path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await output.copy(file, 0, (await file.stat()).size);
  } finally {
    await file.close();
  }
}

/** Compresses every run of data; gives the files with its frames by segment number. */
async function compressData(job: PackJob, ctx: StepContext): Promise<Map<number, string[]>> {
  const limit = pLimit(PARALLEL);
  const frames = new Map<number, string[]>();
  const work: Promise<void>[] = [];
  for (const [index, segment] of job.segments.entries()) {
    if (segment.kind !== "data") continue;
    const pieces = await piecesOf(job, segment.offset, segment.length);
    frames.set(
      index,
      pieces.map((_, number) => join(ctx.dir, `frame-${index}-${number}`)),
    );
    for (const [number, piece] of pieces.entries()) {
      work.push(limit(() => compressPiece(job, piece, join(ctx.dir, `frame-${index}-${number}`), ctx)));
    }
  }
  await Promise.all(work);
  return frames;
}

/** Neighbouring chunks of one kind become one piece, up to the longest. */
async function piecesOf(job: PackJob, offset: number, length: number): Promise<Piece[]> {
  const pieces: Piece[] = [];
  for (const chunk of chunksOf(offset, length)) {
    const bytes = await readBytes(job.source, chunk.offset, chunk.length);
    const level = levelFor(sampledRatio(bytes), job.thorough);
    const last = pieces.at(-1);
    if (last?.level === level && last.length + chunk.length <= LONGEST_PIECE) last.length += chunk.length;
    else pieces.push({ ...chunk, level });
  }
  return pieces;
}

function levelFor(ratio: number, thorough: boolean): Level {
  if (ratio >= WORTHWHILE) return "fast";
  return thorough && ratio < EASY ? "best" : "good";
}

async function compressPiece(job: PackJob, piece: Piece, frame: string, ctx: StepContext): Promise<void> {
  const plain = `${frame}.plain`;
  const copy = await Output.create(plain);
  try {
    await copy.copy(job.source, piece.offset, piece.length);
  } finally {
    await copy.close();
  }
  const args = [...ARGS, ...LEVELS[piece.level], plain];
  await ctx.run("zstd", args, { stdoutFile: frame, signal: ctx.signal });
}
