/** Writes one file out of bytes and pieces of other files, without holding more than a few MiB in memory. */
import { type FileHandle, open } from "node:fs/promises";
import { writeAll } from "../write-all.ts";

export type Piece =
  | Uint8Array
  /** A whole file, or `length` bytes of it from `offset`. */
  | { file: string; offset?: number; length?: number }
  /** So many zero bytes; left as a hole. */
  | { zeros: number };

const CHUNK_BYTES = 4 * 1024 * 1024;

/** Creates `path` from the pieces in order and gives its length in bytes. Rejects when a piece is shorter than asked. */
export async function writePieces(
  path: string,
  pieces: Iterable<Piece>,
  signal?: AbortSignal,
): Promise<number> {
  const out = await open(path, "w", 0o644);
  try {
    let position = 0;
    for (const piece of pieces) {
      signal?.throwIfAborted();
      if (piece instanceof Uint8Array) {
        await writeAll(out, piece, position);
        position += piece.length;
      } else if ("zeros" in piece) {
        position += piece.zeros;
      } else {
        position += await copyInto(out, position, piece, signal);
      }
    }
    await out.truncate(position);
    return position;
  } finally {
    await out.close();
  }
}

/** Reads at most `length` bytes of a file from `offset`; fewer at its end. */
export async function readPiece(path: string, offset: number, length: number): Promise<Uint8Array> {
  const file = await open(path, "r");
  try {
    return await readFully(file, Buffer.allocUnsafe(length), offset);
  } finally {
    await file.close();
  }
}

async function copyInto(
  out: FileHandle,
  position: number,
  piece: { file: string; offset?: number; length?: number },
  signal?: AbortSignal,
): Promise<number> {
  const source = await open(piece.file, "r");
  try {
    const start = piece.offset ?? 0;
    const length = piece.length ?? (await source.stat()).size - start;
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(length, 1)));
    for (let done = 0; done < length; ) {
      signal?.throwIfAborted();
      const chunk = await readFully(
        source,
        buffer.subarray(0, Math.min(buffer.length, length - done)),
        start + done,
      );
      if (chunk.length === 0) throw new RangeError(`${piece.file} is shorter than ${start + length} bytes`);
      await writeAll(out, chunk, position + done);
      done += chunk.length;
    }
    return length;
  } finally {
    await source.close();
  }
}

async function readFully(file: FileHandle, buffer: Buffer, position: number): Promise<Buffer> {
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
