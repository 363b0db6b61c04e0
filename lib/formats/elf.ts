/** Facts of ELF files (System V gABI, chapters 4 and 5) read in pieces, so that a large program costs no memory. */

/** Gives up to `length` bytes at an offset, fewer at the end of the file. */
export type ReadAt = (offset: number, length: number) => Promise<Uint8Array>;

export interface ElfFacts {
  machine: number;
  kind: "relocatable" | "executable" | "shared" | "other";
  /** PT_INTERP: the loader, null for static programs and libraries. */
  interpreter: string | null;
  /** DT_NEEDED: libraries by name. */
  needed: string[];
  /** DT_RPATH and DT_RUNPATH, split at ":". */
  runPaths: string[];
  /** Fields of .modinfo of a kernel module ("vermagic=..."), empty for anything else. */
  modinfo: string[];
}

/** e_machine of what Talos runs on. */
export const ELF_MACHINES = { amd64: 62, arm64: 183 } as const;

const NAMES: Record<number, string> = {
  ...{ 2: "sparc", 3: "386", 8: "mips", 20: "ppc", 21: "ppc64", 22: "s390x", 40: "arm" },
  ...{ 62: "amd64", 183: "arm64", 243: "riscv64", 247: "bpf", 258: "loong64" },
};

/** Short name of an e_machine number. */
export const elfMachineName = (machine: number): string => NAMES[machine] ?? `ELF machine ${machine}`;

const KINDS = { 1: "relocatable", 2: "executable", 3: "shared" } as const;
const PT_LOAD = 1;
const PT_DYNAMIC = 2;
const PT_INTERP = 3;
const DT_NEEDED = 1;
const DT_STRTAB = 5;
const DT_RPATH = 15;
const DT_RUNPATH = 29;
const MOST_HEADERS = 4_096;
const MOST_DYNAMIC = 64 * 1024;
const MOST_STRING = 4_096;
const MOST_NEEDED = 250;
const MOST_NAMES = 64 * 1024;
const MODINFO = ".modinfo\0";
const MOST_MODINFO = 1024 * 1024;
const LATIN = new TextDecoder("latin1");

/** Reads numbers of one file in its own byte order and word size. */
interface Numbers {
  wide: boolean;
  u16(at: number): number;
  u32(at: number): number;
  /** A word of the file's size; numbers beyond 2^53 become Infinity. */
  word(at: number): number;
}

function numbersOf(bytes: Uint8Array, wide: boolean, little: boolean): Numbers {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const inside = (at: number, size: number) => at + size <= bytes.byteLength;
  const long = (at: number) => {
    const value = view.getBigUint64(at, little);
    return value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.POSITIVE_INFINITY : Number(value);
  };
  const u32 = (at: number) => (inside(at, 4) ? view.getUint32(at, little) : 0);
  return {
    wide,
    u16: (at) => (inside(at, 2) ? view.getUint16(at, little) : 0),
    u32,
    word: (at) => (wide ? (inside(at, 8) ? long(at) : 0) : u32(at)),
  };
}

interface Segment {
  type: number;
  offset: number;
  address: number;
  sizeBytes: number;
}

/** Null when the file is not ELF. What is damaged in one is left out. */
export async function readElf(read: ReadAt): Promise<ElfFacts | null> {
  const head = await read(0, 64);
  if (head.length < 52 || LATIN.decode(head.subarray(0, 4)) !== "\x7fELF") return null;
  const wide = head[4] === 2;
  const little = head[5] !== 2;
  if (wide && head.length < 64) return null;
  const numbers = numbersOf(head, wide, little);
  const open = async (offset: number, length: number) =>
    Number.isSafeInteger(offset + length) ? read(offset, length) : new Uint8Array();
  const file: ElfFile = { open, view: (bytes) => numbersOf(bytes, wide, little), head: numbers };
  const segments = await segmentsOf(file);
  const type = numbers.u16(16);
  const interpreter = segments.find((segment) => segment.type === PT_INTERP);
  return {
    machine: numbers.u16(18),
    kind: type === 1 || type === 2 || type === 3 ? KINDS[type] : "other",
    interpreter: interpreter === undefined ? null : await textAt(file, interpreter.offset),
    ...(await dynamicOf(file, segments)),
    modinfo: type === 1 ? await modinfoOf(file) : [],
  };
}

interface ElfFile {
  open: ReadAt;
  view: (bytes: Uint8Array) => Numbers;
  head: Numbers;
}

async function segmentsOf({ open, view, head }: ElfFile): Promise<Segment[]> {
  const { wide } = head;
  const size = wide ? 56 : 32;
  const count = Math.min(head.u16(wide ? 56 : 44), MOST_HEADERS);
  if (head.u16(wide ? 54 : 42) !== size || count === 0) return [];
  const bytes = await open(head.word(wide ? 32 : 28), size * count);
  const table = view(bytes);
  return Array.from({ length: Math.floor(bytes.length / size) }, (_, index) => {
    const at = index * size;
    return {
      type: table.u32(at),
      offset: table.word(at + (wide ? 8 : 4)),
      address: table.word(at + (wide ? 16 : 8)),
      sizeBytes: table.word(at + (wide ? 32 : 16)),
    };
  });
}

async function dynamicOf(
  file: ElfFile,
  segments: Segment[],
): Promise<{ needed: string[]; runPaths: string[] }> {
  const dynamic = segments.find(({ type }) => type === PT_DYNAMIC);
  if (dynamic === undefined) return { needed: [], runPaths: [] };
  const size = file.head.wide ? 16 : 8;
  const bytes = await file.open(dynamic.offset, Math.min(dynamic.sizeBytes, MOST_DYNAMIC));
  const table = file.view(bytes);
  const entries: { tag: number; value: number }[] = [];
  for (let at = 0; at + size <= bytes.length; at += size) {
    const tag = table.word(at);
    if (tag === 0) break;
    entries.push({ tag, value: table.word(at + size / 2) });
  }
  const address = entries.find(({ tag }) => tag === DT_STRTAB)?.value;
  const strings = address === undefined ? null : offsetOf(segments, address);
  if (strings === null) return { needed: [], runPaths: [] };
  const texts = (...tags: number[]) =>
    Promise.all(
      entries
        .filter(({ tag }) => tags.includes(tag))
        .slice(0, MOST_NEEDED)
        .map(({ value }) => textAt(file, strings + value)),
    );
  const needed = (await texts(DT_NEEDED)).filter((text) => text !== "");
  const paths = await texts(DT_RPATH, DT_RUNPATH);
  return { needed, runPaths: paths.flatMap((text) => text.split(":")).filter((text) => text !== "") };
}

/** Place in the file of an address of the running program. */
function offsetOf(segments: Segment[], address: number): number | null {
  const holder = segments.find(
    (one) => one.type === PT_LOAD && one.address <= address && address < one.address + one.sizeBytes,
  );
  return holder === undefined ? null : holder.offset + address - holder.address;
}

async function textAt({ open }: ElfFile, offset: number): Promise<string> {
  const bytes = await open(offset, MOST_STRING);
  const end = bytes.indexOf(0);
  return LATIN.decode(end < 0 ? bytes : bytes.subarray(0, end));
}

async function modinfoOf(file: ElfFile): Promise<string[]> {
  const { open, view, head } = file;
  const { wide } = head;
  const size = wide ? 64 : 40;
  const count = Math.min(head.u16(wide ? 60 : 48), MOST_HEADERS);
  if (head.u16(wide ? 58 : 46) !== size || count === 0) return [];
  const bytes = await open(head.word(wide ? 40 : 32), size * count);
  const table = view(bytes);
  const names = head.u16(wide ? 62 : 50) * size;
  const place = (at: number) => ({
    offset: table.word(at + (wide ? 24 : 16)),
    sizeBytes: table.word(at + (wide ? 32 : 20)),
  });
  const nameTable = place(names);
  const strings = await open(nameTable.offset, Math.min(nameTable.sizeBytes, MOST_NAMES));
  for (let at = 0; at + size <= bytes.length; at += size) {
    const name = LATIN.decode(strings.subarray(table.u32(at), table.u32(at) + MODINFO.length));
    if (name !== MODINFO) continue;
    const { offset, sizeBytes } = place(at);
    const section = await open(offset, Math.min(sizeBytes, MOST_MODINFO));
    return LATIN.decode(section)
      .split("\0")
      .filter((text) => text !== "");
  }
  return [];
}
