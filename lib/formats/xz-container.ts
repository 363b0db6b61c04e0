/** The .xz file format around blocks: what is needed to put finished blocks of several files into one stream. */
import { concatBytes } from "@noble/hashes/utils.js";
import { AppError } from "../errors/app-error.ts";
import { crc32 } from "./crc32.ts";

/** One block as the index lists it (xz file format 1.1.0 section 4.3), sizes in bytes. */
export interface XzBlock {
  /** Header, compressed data and check, without the padding to four bytes. */
  unpaddedBytes: number;
  uncompressedBytes: number;
}

const MAGIC = [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00];
const FOOTER_MAGIC = [0x59, 0x5a];
/** Stream flags for check type CRC32, the only one every decoder must know. */
const FLAGS = [0x00, 0x01];
export const XZ_HEADER_BYTES = 12;
export const XZ_FOOTER_BYTES = 12;
/** LZMA2 dictionary of 256 KiB, the one of preset 0. */
const DICTIONARY_256_KIB = 12;
const STORED_CHUNK_BYTES = 65_536;

const pad4 = (length: number): number => (4 - (length % 4)) % 4;

/** Bytes a block takes in the file. */
export const paddedBytes = (block: XzBlock): number => block.unpaddedBytes + pad4(block.unpaddedBytes);

function le32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value, true);
  return bytes;
}

/** Variable-length integer, seven bits a byte, least significant first. */
function multibyteInteger(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return Uint8Array.from([...bytes, rest]);
}

/** Stream header, 12 bytes. */
export const xzHeader = (): Uint8Array =>
  concatBytes(Uint8Array.from([...MAGIC, ...FLAGS]), le32(crc32(Uint8Array.from(FLAGS))));

/** Index and stream footer: the end of a file that holds these blocks. */
export function xzTail(blocks: readonly XzBlock[]): Uint8Array {
  const records = blocks.flatMap(({ unpaddedBytes, uncompressedBytes }) => [
    multibyteInteger(unpaddedBytes),
    multibyteInteger(uncompressedBytes),
  ]);
  const body = concatBytes(Uint8Array.of(0), multibyteInteger(blocks.length), ...records);
  const padded = concatBytes(body, new Uint8Array(pad4(body.length)));
  const index = concatBytes(padded, le32(crc32(padded)));
  const fields = concatBytes(le32(index.length / 4 - 1), Uint8Array.from(FLAGS));
  return concatBytes(index, le32(crc32(fields)), fields, Uint8Array.from(FOOTER_MAGIC));
}

const damaged = (what: string): AppError =>
  new AppError("internal", `an .xz file made on the way cannot be read back: ${what}`, { retryable: false });

/** Bytes of the index in front of the footer, read from the last 12 bytes of a file. */
export function xzIndexBytes(footer: Uint8Array): number {
  const view = new DataView(footer.buffer, footer.byteOffset, footer.byteLength);
  if (footer.length !== XZ_FOOTER_BYTES || footer[10] !== 0x59 || footer[11] !== 0x5a)
    throw damaged("no stream footer");
  if (footer[9] !== FLAGS[1]) throw damaged("another check than CRC32");
  return (view.getUint32(4, true) + 1) * 4;
}

/** The blocks an index lists; `index` as xzIndexBytes measured it. */
export function parseXzIndex(index: Uint8Array): XzBlock[] {
  let at = 1;
  const next = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = index[at++];
      if (byte === undefined) throw damaged("the index ends early");
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  };
  const count = next();
  return Array.from({ length: count }, () => ({ unpaddedBytes: next(), uncompressedBytes: next() }));
}

/**
 * A block that stores `data` as it is (LZMA2 chunks of type "uncompressed"), for data that does not shrink.
 * `dataCrc32` is the CRC-32 of data. Gives the pieces to write in order and the entry for the index.
 */
export function storedXzBlock(data: Uint8Array, dataCrc32: number): { pieces: Uint8Array[]; block: XzBlock } {
  const chunks = Math.ceil(data.length / STORED_CHUNK_BYTES);
  const compressedBytes = data.length + chunks * 3 + 1;
  const fields = concatBytes(
    Uint8Array.of(0xc0),
    multibyteInteger(compressedBytes),
    multibyteInteger(data.length),
    Uint8Array.of(0x21, 1, DICTIONARY_256_KIB),
  );
  const headerBytes = 1 + fields.length + pad4(1 + fields.length) + 4;
  const head = concatBytes(
    Uint8Array.of(headerBytes / 4 - 1),
    fields,
    new Uint8Array(pad4(1 + fields.length)),
  );
  const pieces = [head, le32(crc32(head))];
  for (let at = 0; at < data.length; at += STORED_CHUNK_BYTES) {
    const chunk = data.subarray(at, at + STORED_CHUNK_BYTES);
    const size = chunk.length - 1;
    pieces.push(Uint8Array.of(at === 0 ? 1 : 2, size >> 8, size & 0xff), chunk);
  }
  pieces.push(new Uint8Array(1 + pad4(compressedBytes)), le32(dataCrc32));
  return {
    pieces,
    block: { unpaddedBytes: headerBytes + compressedBytes + 4, uncompressedBytes: data.length },
  };
}
