/** Reads data in pieces of at most 1 MiB and tells which of them are worth the work of a compressor. */

import type { FileHandle } from "node:fs/promises";
import { deflateRawSync } from "node:zlib";
import { packingBroke } from "./job.ts";

export const CHUNK_BYTES = 1024 * 1024;
const SAMPLE_BYTES = 8 * 1024;
const SAMPLES = 4;
/** A chunk whose samples shrink by less than this is kept as it is: kernel payloads and squashfs are like that. */
export const WORTHWHILE = 0.985;

/** Where the chunks of a run begin and how long they are. */
export function chunksOf(offset: number, length: number): { offset: number; length: number }[] {
  return Array.from({ length: Math.ceil(length / CHUNK_BYTES) }, (_, index) => ({
    offset: offset + index * CHUNK_BYTES,
    length: Math.min(CHUNK_BYTES, length - index * CHUNK_BYTES),
  }));
}

/** Exactly `length` bytes of an open file. */
export async function readBytes(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; ) {
    const { bytesRead } = await file.read(bytes, at, length - at, offset + at);
    if (bytesRead === 0) throw packingBroke(`unexpected end of file at ${offset + at}`);
    at += bytesRead;
  }
  return bytes;
}

/** How small a few samples, spread over the chunk, become under the fastest deflate: 1 for not at all. */
export function sampledRatio(chunk: Buffer): number {
  if (chunk.length <= SAMPLES * SAMPLE_BYTES) return deflatedRatio(chunk);
  const step = Math.floor((chunk.length - SAMPLE_BYTES) / (SAMPLES - 1));
  const samples = Array.from({ length: SAMPLES }, (_, index) =>
    chunk.subarray(index * step, index * step + SAMPLE_BYTES),
  );
  return deflatedRatio(Buffer.concat(samples));
}

const deflatedRatio = (bytes: Buffer): number => deflateRawSync(bytes, { level: 1 }).length / bytes.length;

/** True when the samples of a chunk shrink enough to make compressing it worthwhile. */
export const looksCompressible = (chunk: Buffer): boolean => sampledRatio(chunk) < WORTHWHILE;
