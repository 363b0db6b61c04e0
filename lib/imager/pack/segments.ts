/** Cuts a disk image into runs of zeros, known files whose compressed form is at hand, and other data. */
import { type FileHandle, open, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { StepContext } from "../types.ts";

export interface Extent {
  offset: number;
  length: number;
}

export type Segment =
  | { kind: "zeros"; length: number }
  | { kind: "data"; offset: number; length: number }
  /** A whole known file; `index` is its place in the list of known files. */
  | { kind: "known"; index: number; offset: number; length: number };

type KnownSegment = Extract<Segment, { kind: "known" }>;

interface KnownFile {
  file: FileHandle;
  length: number;
  head: Buffer;
}

/** Known files start on a sector: partitions, FAT clusters, XFS blocks and UKI sections do. */
const SECTOR = 512;
const HEAD_BYTES = 16;
const BLOCK = 4096;
/** Shorter runs of zeros stay part of the data around them. */
const SHORTEST_ZERO_RUN = 256 * 1024;
const CHUNK = 1024 * 1024;
const ZERO_BLOCK = Buffer.alloc(BLOCK);

const mapSchema = z.array(z.object({ start: z.int(), length: z.int(), data: z.boolean() }));

/** The parts of a sparse file that hold data, ascending; the holes between them are zero and are never read. */
export async function dataExtents(
  path: string,
  ctx: Pick<StepContext, "dir" | "run" | "signal">,
): Promise<Extent[]> {
  const listing = join(ctx.dir, "extents.json");
  await ctx.run("qemu-img", ["map", "-f", "raw", "--output=json", path], {
    stdoutFile: listing,
    signal: ctx.signal,
  });
  const map = mapSchema.parse(JSON.parse(await readFile(listing, "utf8")));
  return map.filter(({ data }) => data).map(({ start, length }) => ({ offset: start, length }));
}

/**
 * Segments that cover the whole file in order. `known` are paths of files that may lie somewhere in it in one
 * piece; what looks like one is compared byte by byte before it counts.
 */
export async function findSegments(
  path: string,
  known: readonly string[],
  ctx: Pick<StepContext, "dir" | "run" | "signal">,
): Promise<Segment[]> {
  const extents = await dataExtents(path, ctx);
  const { size } = await stat(path);
  const image = await open(path, "r");
  const files = await Promise.all(known.map(openKnown));
  try {
    const segments = new SegmentList();
    for (const extent of extents) await scanExtent(image, extent, files, segments, ctx.signal);
    return segments.finish(size);
  } finally {
    await image.close();
    await Promise.all(files.map(({ file }) => file.close()));
  }
}

async function openKnown(path: string): Promise<KnownFile> {
  const file = await open(path, "r");
  const { size } = await file.stat();
  const head = Buffer.alloc(HEAD_BYTES);
  await file.read(head, 0, HEAD_BYTES, 0);
  return { file, length: size, head };
}

async function scanExtent(
  image: FileHandle,
  extent: Extent,
  known: readonly KnownFile[],
  segments: SegmentList,
  signal: AbortSignal,
): Promise<void> {
  const end = extent.offset + extent.length;
  const buffer = Buffer.alloc(CHUNK);
  let at = extent.offset;
  while (at < end) {
    signal.throwIfAborted();
    const { bytesRead } = await image.read(buffer, 0, Math.min(CHUNK, end - at), at);
    if (bytesRead === 0) return;
    const chunk = buffer.subarray(0, bytesRead);
    const hit = await findKnown(image, chunk, at, end, known);
    addData(segments, hit === null ? chunk : chunk.subarray(0, hit.offset - at), at);
    at = hit === null ? at + bytesRead : addKnown(segments, hit, end);
  }
}

/** Adds a known file and what is left of its last sector, so that data always ends with a sector; gives that end. */
function addKnown(segments: SegmentList, hit: KnownSegment, end: number): number {
  segments.add(hit);
  const hitEnd = hit.offset + hit.length;
  const rest = Math.min((SECTOR - (hitEnd % SECTOR)) % SECTOR, end - hitEnd);
  if (rest > 0) segments.add({ kind: "data", offset: hitEnd, length: rest });
  return hitEnd + rest;
}

/** The first known file that begins in this chunk. */
async function findKnown(
  image: FileHandle,
  chunk: Buffer,
  start: number,
  end: number,
  known: readonly KnownFile[],
): Promise<KnownSegment | null> {
  const first = (SECTOR - (start % SECTOR)) % SECTOR;
  for (let at = first; at + HEAD_BYTES <= chunk.length; at += SECTOR) {
    for (const [index, { file, length, head }] of known.entries()) {
      if (length < HEAD_BYTES || head.compare(chunk, at, at + HEAD_BYTES) !== 0) continue;
      const offset = start + at;
      if (offset + length <= end && (await sameBytes(image, offset, file, length))) {
        return { kind: "known", index, offset, length };
      }
    }
  }
  return null;
}

async function sameBytes(
  image: FileHandle,
  offset: number,
  file: FileHandle,
  length: number,
): Promise<boolean> {
  const left = Buffer.alloc(CHUNK);
  const right = Buffer.alloc(CHUNK);
  for (let at = 0; at < length; at += CHUNK) {
    const size = Math.min(CHUNK, length - at);
    await Promise.all([image.read(left, 0, size, offset + at), file.read(right, 0, size, at)]);
    if (left.compare(right, 0, size, 0, size) !== 0) return false;
  }
  return true;
}

/** Adds the parts of a chunk that are not zero, cut at block boundaries of the image. */
function addData(segments: SegmentList, chunk: Buffer, start: number): void {
  for (let at = 0; at < chunk.length; ) {
    const size = Math.min(BLOCK - ((start + at) % BLOCK), chunk.length - at);
    if (ZERO_BLOCK.compare(chunk, at, at + size, 0, size) !== 0) {
      segments.add({ kind: "data", offset: start + at, length: size });
    }
    at += size;
  }
}

/** Joins data pieces that lie close together and fills the gaps between the others with zeros. */
class SegmentList {
  private readonly placed: Exclude<Segment, { kind: "zeros" }>[] = [];

  add(segment: Exclude<Segment, { kind: "zeros" }>): void {
    const last = this.placed.at(-1);
    const gap = last === undefined ? 0 : segment.offset - last.offset - last.length;
    if (last?.kind === "data" && segment.kind === "data" && gap < SHORTEST_ZERO_RUN) {
      last.length = segment.offset + segment.length - last.offset;
      return;
    }
    this.placed.push({ ...segment });
  }

  finish(size: number): Segment[] {
    const segments: Segment[] = [];
    let at = 0;
    for (const segment of this.placed) {
      if (segment.offset > at) segments.push({ kind: "zeros", length: segment.offset - at });
      segments.push(segment);
      at = segment.offset + segment.length;
    }
    if (size > at) segments.push({ kind: "zeros", length: size - at });
    return segments;
  }
}
