/** Writes one gzip member whose deflate data is made in pieces: compressed, stored, repeated, or taken from parts. */
import { type FileHandle, open } from "node:fs/promises";
import { promisify } from "node:util";
import { constants, crc32, deflateRaw } from "node:zlib";
import { crc32Combine, crc32OfZeros } from "../../formats/crc32.ts";
import { gzipHeader, gzipTail } from "../../formats/gzip-container.ts";
import type { StepContext } from "../types.ts";
import { CHUNK_BYTES, chunksOf, looksCompressible, readBytes } from "./chunks.ts";
import type { PackJob } from "./job.ts";
import { Output } from "./output.ts";
import type { Segment } from "./segments.ts";

const deflate = promisify<Buffer, { level: number; finishFlush: number }, Buffer>(deflateRaw);
const TRAILER_BYTES = 8;
/** Chunks on the way at the same time: the thread pool of Node has four threads. */
const PARALLEL = 4;

/** Bytes around the packed file that are not part of it: a tar header before, closing zeros behind. */
export interface GzipFrame {
  /** Goes into the header; null leaves it out. */
  fileName: string | null;
  before: Uint8Array;
  after: Uint8Array;
  /** True: runs of zeros are left out, the header before says where they are. */
  skipZeros: boolean;
}

/** Ends on a byte boundary and is not the last block, so that more deflate data may follow. */
const deflatePiece = (bytes: Buffer, level: number): Promise<Buffer> =>
  deflate(bytes, { level, finishFlush: constants.Z_SYNC_FLUSH });

interface Member {
  output: Output;
  crc: number;
  length: number;
}

function count(member: Member, crc: number, length: number): void {
  member.crc = crc32Combine(member.crc, crc, length);
  member.length += length;
}

/** Packs the job as one gzip member, level 6 where that helps. */
export async function packGzip(job: PackJob, frame: GzipFrame, ctx: StepContext): Promise<void> {
  const member: Member = { output: await Output.create(job.output), crc: 0, length: 0 };
  const head = gzipHeader(frame.fileName);
  const parts = await Promise.all(job.parts.map((path) => open(path, "r")));
  try {
    await member.output.write(head);
    await addBytes(member, Buffer.from(frame.before));
    for (const segment of job.segments) {
      ctx.signal.throwIfAborted();
      if (segment.kind !== "zeros") await addSegment(member, job.source, segment, parts);
      else if (!frame.skipZeros) await addZeros(member, segment.length);
    }
    await addBytes(member, Buffer.from(frame.after));
    await member.output.write(gzipTail(member.crc, member.length));
  } finally {
    await member.output.close();
    await Promise.all(parts.map((part) => part.close()));
  }
}

async function addSegment(
  member: Member,
  source: FileHandle,
  segment: Exclude<Segment, { kind: "zeros" }>,
  parts: readonly FileHandle[],
): Promise<void> {
  const part = segment.kind === "known" ? parts[segment.index] : undefined;
  if (part !== undefined) await addPart(member, part, segment.length);
  else await addData(member, source, segment.offset, segment.length);
}

async function addBytes(member: Member, bytes: Buffer): Promise<void> {
  if (bytes.length === 0) return;
  await member.output.write(await deflatePiece(bytes, 6));
  count(member, crc32(bytes), bytes.length);
}

async function addData(member: Member, source: FileHandle, offset: number, length: number): Promise<void> {
  const chunks = chunksOf(offset, length);
  for (let at = 0; at < chunks.length; at += PARALLEL) {
    const group = await Promise.all(
      chunks.slice(at, at + PARALLEL).map(async (chunk) => {
        const bytes = await readBytes(source, chunk.offset, chunk.length);
        const packed = await deflatePiece(bytes, looksCompressible(bytes) ? 6 : 0);
        return { packed, crc: crc32(bytes), length: bytes.length };
      }),
    );
    for (const { packed, crc, length: size } of group) {
      await member.output.write(packed);
      count(member, crc, size);
    }
  }
}

async function addZeros(member: Member, length: number): Promise<void> {
  const unit = await deflatePiece(Buffer.alloc(CHUNK_BYTES), 6);
  const times = Math.floor(length / CHUNK_BYTES);
  for (let index = 0; index < times; index++) await member.output.write(unit);
  const rest = length - times * CHUNK_BYTES;
  if (rest > 0) await member.output.write(await deflatePiece(Buffer.alloc(rest), 6));
  count(member, crc32OfZeros(length), length);
}

/** Takes over the deflate data of a packed part, without header, empty last block and trailer. */
async function addPart(member: Member, part: FileHandle, length: number): Promise<void> {
  const { size } = await part.stat();
  const headBytes = gzipHeader(null).length;
  const tailBytes = gzipTail(0, 0).length;
  const trailer = await readBytes(part, size - TRAILER_BYTES, TRAILER_BYTES);
  await member.output.copy(part, headBytes, size - headBytes - tailBytes);
  count(member, trailer.readUInt32LE(0), length);
}
