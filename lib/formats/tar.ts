/** Headers of a plain tar archive (POSIX.1-2001 pax/ustar), the same bytes for the same member. */

export interface TarMember {
  /** Path without leading or trailing slash. */
  name: string;
  kind: "file" | "folder" | "link";
  /** Permission bits. */
  mode: number;
  /** Bytes of content that follow; 0 for a folder and a link. */
  sizeBytes: number;
  /** Where a symbolic link points. */
  linkTo?: string;
  /** More pax records, written in the order of their keys. */
  records?: Record<string, string>;
  /** Seconds since 1970; 0 unless given. */
  mtime?: number;
}

const BLOCK = 512;
const MOST_NAME = 100;
const MOST_PREFIX = 155;
/** Eleven octal digits. */
const MOST_BYTES = 8 * 1024 ** 3;
const UTF8 = new TextEncoder();
const TYPES = { file: "0", folder: "5", link: "2" } as const;

/** Two blocks of zeros end an archive. */
export const TAR_END_BYTES = 2 * BLOCK;

/** Zero bytes between a member's content and the next header. */
export const tarPaddingBytes = (sizeBytes: number): number => (BLOCK - (sizeBytes % BLOCK)) % BLOCK;

/**
 * Header of one member: owner 0, no owner names. What ustar cannot hold gets a pax record in front.
 * RangeError for content of 8 GiB or more.
 */
export function tarHeader(member: TarMember): Uint8Array {
  if (member.sizeBytes >= MOST_BYTES) throw new RangeError(`${member.name} is too large for this archive`);
  const split = splitName(member.name);
  const { linkTo = "", records = {} } = member;
  const plainLink = /^[\x20-\x7e]*$/.test(linkTo) && linkTo.length <= MOST_NAME;
  const all = {
    ...records,
    ...(split === null ? { path: member.name } : {}),
    ...(plainLink ? {} : { linkpath: linkTo }),
  };
  const pax = Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1));
  const last = split ?? { prefix: "", name: asciiTail(member.name) };
  const own = header({ ...member, linkTo: plainLink ? linkTo : asciiTail(linkTo) }, last, TYPES[member.kind]);
  if (pax.length === 0) return own;
  const record = UTF8.encode(pax.map(([key, value]) => paxRecord(key, value)).join(""));
  const extended = header(
    { name: "", kind: "file", mode: 0o644, sizeBytes: record.length },
    { prefix: "PaxHeaders.0", name: asciiTail(member.name).slice(-80) },
    "x",
  );
  const padded = new Uint8Array(record.length + tarPaddingBytes(record.length));
  padded.set(record);
  return Uint8Array.from([...extended, ...padded, ...own]);
}

const asciiTail = (text: string): string => text.replace(/[^\x20-\x7e]/g, "_").slice(-MOST_NAME);

/** Prefix and name of the ustar header; null when the name needs a pax record. */
function splitName(path: string): { prefix: string; name: string } | null {
  if (!/^[\x20-\x7e]+$/.test(path)) return null;
  if (path.length <= MOST_NAME) return { prefix: "", name: path };
  const slash = path.indexOf("/", path.length - MOST_NAME - 1);
  if (slash < 1 || slash > MOST_PREFIX || slash === path.length - 1) return null;
  return { prefix: path.slice(0, slash), name: path.slice(slash + 1) };
}

function header(member: TarMember, split: { prefix: string; name: string }, type: string): Uint8Array {
  const block = new Uint8Array(BLOCK);
  const put = (text: string, at: number) => block.set(UTF8.encode(text), at);
  put(split.name, 0);
  put(octal(member.mode, 7), 100);
  put(octal(0, 7), 108);
  put(octal(0, 7), 116);
  put(octal(member.sizeBytes, 11), 124);
  put(octal(member.mtime ?? 0, 11), 136);
  put("        ", 148);
  put(type, 156);
  put(member.linkTo ?? "", 157);
  put("ustar\0" + "00", 257);
  put(octal(0, 7), 329);
  put(octal(0, 7), 337);
  put(split.prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  put(`${octal(sum, 6)} `, 148);
  return block;
}

const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, "0")}\0`;

/** "<length> key=value\n" where the length counts itself. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const restBytes = UTF8.encode(rest).length;
  let length = restBytes;
  while (String(length).length + restBytes !== length) length = String(length).length + restBytes;
  return `${length}${rest}`;
}
