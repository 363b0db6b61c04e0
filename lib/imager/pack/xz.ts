/** Writes one .xz stream whose blocks come from the xz program, from finished parts, or are stored as they are. */
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import {
  paddedBytes,
  parseXzIndex,
  storedXzBlock,
  XZ_FOOTER_BYTES,
  XZ_HEADER_BYTES,
  type XzBlock,
  xzHeader,
  xzIndexBytes,
  xzTail,
} from "../../formats/xz-container.ts";
import type { StepContext } from "../types.ts";
import { chunksOf, looksCompressible, readBytes } from "./chunks.ts";
import { type PackJob, packingBroke } from "./job.ts";
import { Output } from "./output.ts";

/** Zeros come in blocks of these sizes and one of what is left; every size is compressed once per file. */
const ZERO_UNITS = [16 * 1024 * 1024, 1024 * 1024];
const LARGEST_BLOCK = ZERO_UNITS[0];

/** What goes into the file, in order: a block made by xz (by its number there), stored data, or a part. */
type Item =
  | { kind: "block"; block: number; times: number }
  | { kind: "stored"; offset: number; length: number }
  | { kind: "part"; index: number };

/** Packs the job as .xz; equal input gives equal bytes whatever the number of processors. */
export async function packXz(job: PackJob, ctx: StepContext): Promise<void> {
  const feed = await open(join(ctx.dir, "feed"), "w+");
  const items: Item[] = [];
  const sizes: number[] = [];
  const zeroBlocks = new Map<number, number>();
  let fed = 0;
  const add = async (length: number, bytes: Buffer | null): Promise<number> => {
    if (bytes !== null) await feed.write(bytes, 0, length, fed);
    fed += length;
    await feed.truncate(fed);
    return sizes.push(length) - 1;
  };
  try {
    for (const segment of job.segments) {
      ctx.signal.throwIfAborted();
      if (segment.kind === "known") items.push({ kind: "part", index: segment.index });
      if (segment.kind === "zeros") {
        for (const { length, times } of zeroRuns(segment.length)) {
          const block = zeroBlocks.get(length) ?? (await add(length, null));
          zeroBlocks.set(length, block);
          items.push({ kind: "block", block, times });
        }
      }
      if (segment.kind === "data") {
        for (const { offset, length } of chunksOf(segment.offset, segment.length)) {
          const bytes = await readBytes(job.source, offset, length);
          if (looksCompressible(bytes)) {
            items.push({ kind: "block", block: await add(length, bytes), times: 1 });
          } else items.push({ kind: "stored", offset, length });
        }
      }
    }
  } finally {
    await feed.close();
  }
  const made = await compressFeed(sizes, ctx);
  await writeStream(job, items, made, ctx);
}

function zeroRuns(length: number): { length: number; times: number }[] {
  const runs: { length: number; times: number }[] = [];
  let rest = length;
  for (const unit of ZERO_UNITS) {
    const times = Math.floor(rest / unit);
    if (times > 0) runs.push({ length: unit, times });
    rest -= times * unit;
  }
  if (rest > 0) runs.push({ length: rest, times: 1 });
  return runs;
}

interface MadeBlocks {
  path: string;
  blocks: { offset: number; block: XzBlock }[];
}

/**
 * One run of xz over all blocks. Two threads, always: what is written depends on threading being on, not on how
 * many threads there are.
 */
async function compressFeed(sizes: readonly number[], ctx: StepContext): Promise<MadeBlocks> {
  const path = join(ctx.dir, "feed.xz");
  if (sizes.length === 0) return { path, blocks: [] };
  const list = `--block-list=${sizes.join(",")}`;
  const args = ["-0", "-T2", "--check=crc32", `--block-size=${LARGEST_BLOCK}`, list, "-c", "feed"];
  await ctx.run("xz", args, { cwd: ctx.dir, stdoutFile: path, signal: ctx.signal });
  const file = await open(path, "r");
  try {
    return { path, blocks: await blocksOf(file) };
  } finally {
    await file.close();
  }
}

/** The blocks of an .xz file with one stream, and where each begins. */
async function blocksOf(file: FileHandle): Promise<MadeBlocks["blocks"]> {
  const { size } = await file.stat();
  const footer = await readBytes(file, size - XZ_FOOTER_BYTES, XZ_FOOTER_BYTES);
  const indexBytes = xzIndexBytes(footer);
  const index = await readBytes(file, size - XZ_FOOTER_BYTES - indexBytes, indexBytes);
  let offset = XZ_HEADER_BYTES;
  return parseXzIndex(index).map((block) => {
    const placed = { offset, block };
    offset += paddedBytes(block);
    return placed;
  });
}

async function writeStream(
  job: PackJob,
  items: readonly Item[],
  made: MadeBlocks,
  ctx: StepContext,
): Promise<void> {
  const output = await Output.create(job.output);
  const blocks: XzBlock[] = [];
  const feed = made.blocks.length > 0 ? await open(made.path, "r") : null;
  const parts = await Promise.all(job.parts.map((path) => open(path, "r")));
  try {
    await output.write(xzHeader());
    for (const item of items) {
      ctx.signal.throwIfAborted();
      if (item.kind === "block" && feed !== null) {
        blocks.push(...(await repeatBlock(output, feed, made.blocks[item.block], item.times)));
      } else if (item.kind === "stored") {
        const data = await readBytes(job.source, item.offset, item.length);
        const { pieces, block } = storedXzBlock(data, crc32(data));
        for (const piece of pieces) await output.write(piece);
        blocks.push(block);
      } else if (item.kind === "part") {
        const part = parts[item.index];
        if (part !== undefined) blocks.push(...(await copyPart(output, part)));
      }
    }
    await output.write(xzTail(blocks));
  } finally {
    await output.close();
    await feed?.close();
    await Promise.all(parts.map((part) => part.close()));
  }
}

async function repeatBlock(
  output: Output,
  feed: FileHandle,
  made: MadeBlocks["blocks"][number] | undefined,
  times: number,
): Promise<XzBlock[]> {
  if (made === undefined) throw packingBroke("xz wrote fewer blocks than it was given");
  const bytes = await readBytes(feed, made.offset, paddedBytes(made.block));
  for (let index = 0; index < times; index++) await output.write(bytes);
  return Array.from({ length: times }, () => made.block);
}

async function copyPart(output: Output, part: FileHandle): Promise<XzBlock[]> {
  const placed = await blocksOf(part);
  const length = placed.reduce((sum, { block }) => sum + paddedBytes(block), 0);
  await output.copy(part, XZ_HEADER_BYTES, length);
  return placed.map(({ block }) => block);
}
