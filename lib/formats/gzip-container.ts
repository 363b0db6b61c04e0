/** Header and trailer of a gzip file (RFC 1952) around deflate data that was made elsewhere. */

const DEFLATE = 8;
const FLAG_NAME = 8;
const OS_UNIX = 3;
const OS_UNKNOWN = 255;
const FASTEST = 4;

/** Header with the original file name, if any, and a zero time, as written on Unix. */
export function gzipHeader(fileName: string | null): Uint8Array {
  const name = fileName === null ? [] : [...new TextEncoder().encode(fileName), 0];
  const flags = fileName === null ? 0 : FLAG_NAME;
  return Uint8Array.from([0x1f, 0x8b, DEFLATE, flags, 0, 0, 0, 0, 0, OS_UNIX, ...name]);
}

/** Header without a name, as writers that know no file system put it (RFC 1952: fastest algorithm, unknown system). */
export function plainGzipHeader(): Uint8Array {
  return Uint8Array.from([0x1f, 0x8b, DEFLATE, 0, 0, 0, 0, 0, FASTEST, OS_UNKNOWN]);
}

/**
 * End of the file: an empty final deflate block, the CRC-32 of the content and its length in bytes (modulo 2³²).
 * The deflate data before must end on a byte boundary with a block that is not the last.
 */
export function gzipTail(contentCrc32: number, contentBytes: number): Uint8Array {
  const bytes = new Uint8Array(13);
  bytes.set([0x01, 0x00, 0x00, 0xff, 0xff]);
  const view = new DataView(bytes.buffer);
  view.setUint32(5, contentCrc32, true);
  view.setUint32(9, contentBytes % 2 ** 32, true);
  return bytes;
}
