/** The newc cpio archive of Linux initramfs images: headers written, members found. */

/** What one member's header says; owner is always 0:0 and devices are 0. */
export interface CpioMember {
  /** Path without leading slash. */
  name: string;
  /** File type and permission bits, as st_mode. */
  mode: number;
  /** Link count; for folders 2 plus the number of sub-folders. */
  links: number;
  /** Bytes of content that follow the header. */
  sizeBytes: number;
  /** Seconds since 1970. */
  mtime: number;
}

/** Where a member's content lies in an archive. */
export interface CpioLocation extends CpioMember {
  /** Offset of the first content byte. */
  offset: number;
}

export const CPIO_FOLDER = 0o040000;
export const CPIO_FILE = 0o100000;
/** Archives end on a multiple of this, as GNU cpio writes them. */
const CPIO_BLOCK = 512;

const MAGIC = "070701";
const HEADER_BYTES = 110;
const TRAILER = "TRAILER!!!";

const pad = (length: number, unit: number): number => (unit - (length % unit)) % unit;
const field = (value: number): string => value.toString(16).toUpperCase().padStart(8, "0");

/**
 * Header and name of a member, padded to four bytes. Inode numbers count from 0 in archive order.
 * Content of `sizeBytes` bytes follows, then zeros to a multiple of four (cpioPadding).
 */
export function cpioHeader(member: CpioMember, inode: number): Uint8Array {
  const name = new TextEncoder().encode(member.name);
  const fields = [
    inode,
    member.mode,
    0,
    0,
    member.links,
    member.mtime,
    member.sizeBytes,
    0,
    0,
    0,
    0,
    name.length + 1,
    0,
  ];
  const out = new Uint8Array(HEADER_BYTES + name.length + 1 + pad(HEADER_BYTES + name.length + 1, 4));
  out.set(new TextEncoder().encode(MAGIC + fields.map(field).join("")));
  out.set(name, HEADER_BYTES);
  return out;
}

/** Zeros after content of this length. */
export const cpioPadding = (sizeBytes: number): Uint8Array => new Uint8Array(pad(sizeBytes, 4));

/** The end mark of an archive that is `lengthSoFar` bytes long, with zeros up to the block size. */
export function cpioTrailer(lengthSoFar: number): Uint8Array {
  const mark = cpioHeader({ name: TRAILER, mode: 0, links: 1, sizeBytes: 0, mtime: 0 }, 0);
  const out = new Uint8Array(mark.length + pad(lengthSoFar + mark.length, CPIO_BLOCK));
  out.set(mark);
  return out;
}

/** Reads `length` bytes at `offset`; fewer at the end of the archive. */
export type ReadAt = (offset: number, length: number) => Promise<Uint8Array>;

/**
 * All members of a newc archive (with or without checksums), in order, found by reading headers only.
 * Throws RangeError on a damaged archive.
 */
export async function listCpio(read: ReadAt): Promise<CpioLocation[]> {
  const members: CpioLocation[] = [];
  for (let offset = 0; ; ) {
    const { member, next } = await readMember(read, offset);
    if (member.name === TRAILER) return members;
    members.push(member);
    offset = next;
  }
}

async function readMember(read: ReadAt, offset: number): Promise<{ member: CpioLocation; next: number }> {
  const text = new TextDecoder("latin1").decode(await read(offset, HEADER_BYTES));
  if (!/^07070[12][0-9A-Fa-f]{104}$/.test(text)) {
    throw new RangeError(`no cpio header at offset ${offset}`);
  }
  const number = (index: number) => Number.parseInt(text.slice(6 + index * 8, 14 + index * 8), 16);
  const nameBytes = number(11);
  if (nameBytes < 1 || nameBytes > 4096)
    throw new RangeError(`cpio name of ${nameBytes} bytes at offset ${offset}`);
  const name = await read(offset + HEADER_BYTES, nameBytes - 1);
  if (name.length !== nameBytes - 1) throw new RangeError("the cpio archive ends inside a name");
  const start = offset + HEADER_BYTES + nameBytes;
  const content = start + pad(start, 4);
  const sizeBytes = number(6);
  const member = {
    name: new TextDecoder().decode(name),
    mode: number(1),
    links: number(4),
    mtime: number(5),
    sizeBytes,
    offset: content,
  };
  return { member, next: content + sizeBytes + pad(content + sizeBytes, 4) };
}
