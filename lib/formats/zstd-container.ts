/** Zstandard frames written without a compressor: runs of zeros (RFC 8878 section 3.1.1). */

const MAGIC = 0xfd2fb528;
/** No single segment, no checksum, no dictionary, frame content size in eight bytes. */
const DESCRIPTOR = 0xc0;
/** Window descriptor of 128 KiB: exponent 7, mantissa 0. */
const WINDOW_128_KIB = 7 << 3;
const HEADER_BYTES = 14;
const BLOCK_BYTES = 128 * 1024;
const RLE_BLOCK = 1;
/** Block header and the repeated byte. */
const RLE_BYTES = 4;

/** A whole frame that decodes to `length` zero bytes, about four bytes for every 128 KiB. */
export function zstdZeroFrame(length: number): Uint8Array {
  const blocks = Math.max(1, Math.ceil(length / BLOCK_BYTES));
  const frame = new Uint8Array(HEADER_BYTES + blocks * RLE_BYTES);
  const view = new DataView(frame.buffer);
  view.setUint32(0, MAGIC, true);
  frame[4] = DESCRIPTOR;
  frame[5] = WINDOW_128_KIB;
  view.setBigUint64(6, BigInt(length), true);
  for (let index = 0; index < blocks; index++) {
    const last = index === blocks - 1;
    const size = last ? length - index * BLOCK_BYTES : BLOCK_BYTES;
    // Block header: bit 0 last block, bits 1 and 2 type, then the size; the byte to repeat follows and is zero.
    view.setUint32(HEADER_BYTES + index * RLE_BYTES, (last ? 1 : 0) | (RLE_BLOCK << 1) | (size << 3), true);
  }
  return frame;
}
