/** The two 32-bit checksums of disk formats: CRC-32 (GPT, gzip, xz) and CRC-32C (XFS metadata). */

function table(polynomial: number): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, index) => {
    let value = index;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ polynomial : value >>> 1;
    return value >>> 0;
  });
}

const IEEE = table(0xedb88320);
const CASTAGNOLI = table(0x82f63b78);

function update(crcTable: Uint32Array, bytes: Uint8Array, start: number): number {
  let crc = ~start;
  for (const byte of bytes) crc = (crc >>> 8) ^ (crcTable[(crc ^ byte) & 0xff] ?? 0);
  return ~crc >>> 0;
}

/** CRC-32 of ISO 3309; `start` is the checksum of the bytes before, 0 for none. */
export const crc32 = (bytes: Uint8Array, start = 0): number => update(IEEE, bytes, start);

/** CRC-32C (RFC 3720 appendix B.4). */
export const crc32c = (bytes: Uint8Array, start = 0): number => update(CASTAGNOLI, bytes, start);

/** a·b in GF(2)[x] modulo the CRC-32 polynomial, both reflected (bit 31 is x⁰). */
function multiply(a: number, b: number): number {
  let product = 0;
  let factor = b;
  for (let mask = 0x80000000; mask !== 0; mask >>>= 1) {
    if (a & mask) product ^= factor;
    factor = factor & 1 ? (factor >>> 1) ^ 0xedb88320 : factor >>> 1;
  }
  return product >>> 0;
}

/** x to the power 8·length modulo the polynomial: what appending `length` zero bytes multiplies a CRC with. */
function zeroBytesOperator(length: number): number {
  let result = 0x80000000;
  let power = 0x00800000;
  for (let rest = length; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = multiply(power, result);
    power = multiply(power, power);
  }
  return result;
}

/** CRC-32 of two pieces put together, from their checksums and the length of the second, bytes. */
export const crc32Combine = (first: number, second: number, secondLength: number): number =>
  (multiply(zeroBytesOperator(secondLength), first) ^ second) >>> 0;

/** CRC-32 of that many zero bytes, without looking at them. */
export const crc32OfZeros = (length: number): number =>
  ~multiply(zeroBytesOperator(length), 0xffffffff) >>> 0;
