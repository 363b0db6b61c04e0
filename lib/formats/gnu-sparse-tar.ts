/** Header of one sparse member in the old GNU tar format, which some clouds demand for disk images. */

export interface SparseExtent {
  offset: number;
  length: number;
}

export interface SparseMember {
  name: string;
  /** Size of the whole file, bytes. */
  sizeBytes: number;
  /** Data, ascending; every length but the last a multiple of 512. */
  extents: readonly SparseExtent[];
  /** Seconds since 1970. */
  mtime: number;
}

const BLOCK = 512;
const ENTRIES_IN_HEADER = 4;
const ENTRIES_IN_EXTENSION = 21;
/** GNU tar writes records of 20 blocks. */
const RECORD_BYTES = 20 * BLOCK;
const ASCII = new TextEncoder();

/** Octal with a closing NUL, or base 256 (first bit set) when octal has not enough digits. */
function numberField(value: number, width: number): Uint8Array {
  const digits = value.toString(8);
  if (digits.length < width) return ASCII.encode(`${digits.padStart(width - 1, "0")}\0`);
  const bytes = new Uint8Array(width);
  let rest = value;
  for (let index = width - 1; index > 0; index--) {
    bytes[index] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  bytes[0] = 0x80;
  return bytes;
}

function writeEntries(block: Uint8Array, at: number, entries: readonly SparseExtent[]): void {
  for (const [index, { offset, length }] of entries.entries()) {
    block.set(numberField(offset, 12), at + index * 24);
    block.set(numberField(length, 12), at + index * 24 + 12);
  }
}

/** Header block and extension blocks; the data of the extents follows directly, one after the other. */
export function sparseTarHeader(member: SparseMember): Uint8Array {
  const map = [...member.extents, { offset: member.sizeBytes, length: 0 }];
  const storedBytes = member.extents.reduce((sum, extent) => sum + extent.length, 0);
  const extensions = Math.max(0, Math.ceil((map.length - ENTRIES_IN_HEADER) / ENTRIES_IN_EXTENSION));
  const bytes = new Uint8Array(BLOCK * (1 + extensions));
  bytes.set(ASCII.encode(member.name), 0);
  bytes.set(numberField(0o644, 8), 100);
  bytes.set(numberField(0, 8), 108);
  bytes.set(numberField(0, 8), 116);
  bytes.set(numberField(storedBytes, 12), 124);
  bytes.set(numberField(member.mtime, 12), 136);
  bytes.set(ASCII.encode("        S"), 148);
  bytes.set(ASCII.encode("ustar  \0"), 257);
  writeEntries(bytes, 386, map.slice(0, ENTRIES_IN_HEADER));
  bytes[482] = extensions > 0 ? 1 : 0;
  bytes.set(numberField(member.sizeBytes, 12), 483);
  for (let index = 0; index < extensions; index++) {
    const from = ENTRIES_IN_HEADER + index * ENTRIES_IN_EXTENSION;
    const at = BLOCK * (1 + index);
    writeEntries(bytes, at, map.slice(from, from + ENTRIES_IN_EXTENSION));
    bytes[at + 504] = index < extensions - 1 ? 1 : 0;
  }
  const sum = bytes.subarray(0, BLOCK).reduce((total, byte) => total + byte, 0);
  bytes.set(ASCII.encode(`${sum.toString(8).padStart(6, "0")}\0 `), 148);
  return bytes;
}

/** Zero bytes that close an archive whose members take `archiveBytes` so far: two blocks, then up to a whole record. */
export function tarEndBytes(archiveBytes: number): number {
  const padding = (BLOCK - (archiveBytes % BLOCK)) % BLOCK;
  const closed = archiveBytes + padding + 2 * BLOCK;
  return Math.ceil(closed / RECORD_BYTES) * RECORD_BYTES - archiveBytes;
}
