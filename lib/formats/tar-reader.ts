/** Reads a tar archive (POSIX.1-2001 ustar and pax, GNU long names) strictly: what two readers could take for different things is refused. */

/** Why an archive is not read, naming the entry. */
export class TarRefusal extends Error {
  override readonly name = "TarRefusal";
  constructor(
    readonly entry: string | null,
    reason: string,
  ) {
    super(reason);
  }
}

export interface TarEntry {
  /** As it stands in the archive. */
  name: string;
  kind: "file" | "folder" | "link" | "hardlink";
  mode: number;
  sizeBytes: number;
  /** Target of links of both kinds, else empty. */
  linkTo: string;
  /** Pax records of this entry but those that say its name, target or size. */
  records: Record<string, string>;
  /** Content of a file; what is not read is passed over. */
  content: AsyncIterable<Uint8Array>;
}

const BLOCK = 512;
const MOST_RECORDS = 64 * 1024;
const MOST_NAME = 4_096;
const KINDS: Record<string, TarEntry["kind"]> = {
  ...{ "0": "file", "\0": "file", "7": "file", "5": "folder", "2": "link", "1": "hardlink" },
};
const REFUSED: Record<string, string> = {
  ...{ "3": "a character device", "4": "a block device", "6": "a named pipe", S: "a sparse file" },
};
const UTF8 = new TextDecoder("utf-8", { fatal: true });

interface Header {
  name: string;
  mode: number;
  sizeBytes: number;
  type: string;
  linkTo: string;
}

/** Records in front of an entry. */
interface Ahead {
  records: Map<string, string> | null;
  longName: string | null;
  longLink: string | null;
}

/** The entries in order. TarRefusal for what is damaged or ambiguous; `mostBytes` is the largest content there may be. */
export async function* readTar(
  chunks: AsyncIterable<Uint8Array>,
  { mostBytes }: { mostBytes: number },
): AsyncGenerator<TarEntry> {
  const source = new ByteSource(chunks);
  let ahead: Ahead = { records: null, longName: null, longLink: null };
  for (let first = true; ; first = false) {
    const block = await source.block();
    if (block === null || block.every((byte) => byte === 0)) {
      if (first) throw new TarRefusal(null, "it is not a tar archive or holds nothing");
      if (ahead.records !== null || ahead.longName !== null || ahead.longLink !== null)
        throw new TarRefusal(null, "it ends after records that belong to no entry");
      return source.requireZeros();
    }
    const header = readHeader(block, first);
    if (header.type === "x" || header.type === "g" || header.type === "L" || header.type === "K") {
      ahead = await readAhead(source, header, ahead);
      continue;
    }
    const entry = joined(header, ahead);
    ahead = { records: null, longName: null, longLink: null };
    if (entry.sizeBytes > mostBytes)
      throw new TarRefusal(entry.name, `it says it has ${entry.sizeBytes} bytes, more than ${mostBytes}`);
    const content = source.content(entry.sizeBytes, entry.name);
    yield { ...entry, content };
    for await (const _ of content);
    await source.skipPadding(entry.sizeBytes, entry.name);
  }
}

function readHeader(block: Uint8Array, first: boolean): Header {
  const sum = block.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0);
  const magic = latin(block.subarray(257, 262));
  if (octal(block.subarray(148, 156)) !== sum || magic !== "ustar")
    throw new TarRefusal(null, first ? "it is not a tar archive" : "a header inside it is damaged");
  const prefix = block[262] === 0 ? text(block.subarray(345, 500)) : "";
  const name = text(block.subarray(0, 100));
  return {
    name: prefix === "" ? name : `${prefix}/${name}`,
    mode: (octal(block.subarray(100, 108)) ?? 0) & 0o7777,
    sizeBytes: sizeOf(block.subarray(124, 136), name),
    type: String.fromCharCode(block[156] ?? 0),
    linkTo: text(block.subarray(157, 257)),
  };
}

const latin = (bytes: Uint8Array): string => String.fromCharCode(...bytes);

/** Up to the first zero byte. */
function text(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return decode(end < 0 ? bytes : bytes.subarray(0, end));
}

function decode(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new TarRefusal(latin(bytes.subarray(0, 200)), "its name is not UTF-8");
  }
}

function octal(bytes: Uint8Array): number | null {
  const digits = latin(bytes).replace(/^[ \0]+|[ \0]+$/g, "");
  return digits === "" ? 0 : /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : null;
}

/** Octal digits, or GNU's binary form for large files. */
function sizeOf(bytes: Uint8Array, name: string): number {
  const [mark = 0, ...rest] = bytes;
  const size =
    mark === 0x80 ? rest.reduce((total, byte) => total * 256 + byte, 0) : mark > 0x80 ? null : octal(bytes);
  if (size === null) throw new TarRefusal(name, "its size is no number");
  return size;
}

async function readAhead(source: ByteSource, header: Header, ahead: Ahead): Promise<Ahead> {
  const { type, sizeBytes, name } = header;
  const most = type === "x" || type === "g" ? MOST_RECORDS : MOST_NAME + 1;
  if (sizeBytes > most)
    throw new TarRefusal(name, `${sizeBytes} bytes of records stand before an entry, more than ${most}`);
  const parts: Uint8Array[] = [];
  for await (const part of source.content(sizeBytes, name)) parts.push(part);
  await source.skipPadding(sizeBytes, name);
  const bytes = new Uint8Array(Buffer.concat(parts));
  if (type === "g") {
    const key = [...parseRecords(bytes, name).keys()].find((one) => one !== "comment");
    if (key === undefined) return ahead;
    throw new TarRefusal(name, `a global header sets ${key} for all entries`);
  }
  const twice = { x: ahead.records, L: ahead.longName, K: ahead.longLink }[type];
  if (twice !== null) throw new TarRefusal(name, "two headers of one kind stand before an entry");
  if (type === "x") return { ...ahead, records: parseRecords(bytes, name) };
  return type === "L" ? { ...ahead, longName: text(bytes) } : { ...ahead, longLink: text(bytes) };
}

/** "<length> key=value\n", one after the other, each key once. */
function parseRecords(bytes: Uint8Array, name: string): Map<string, string> {
  const records = new Map<string, string>();
  const broken = () => new TarRefusal(name, "its pax records are damaged");
  for (let at = 0; at < bytes.length; ) {
    const digits = /^([1-9]\d{0,6}) /.exec(latin(bytes.subarray(at, at + 8)))?.[1];
    const end = at + Number(digits);
    if (digits === undefined || end > bytes.length || bytes[end - 1] !== 0x0a) throw broken();
    const record = bytes.subarray(at + digits.length + 1, end - 1);
    const equals = record.indexOf(0x3d);
    if (equals < 1) throw broken();
    const key = latin(record.subarray(0, equals));
    if (records.has(key)) throw new TarRefusal(name, `its pax records say ${key} twice`);
    const value = record.subarray(equals + 1);
    // Other values may be bytes: attributes are.
    records.set(key, key === "path" || key === "linkpath" ? decode(value) : Buffer.from(value).toString());
    at = end;
  }
  return records;
}

function joined(header: Header, { records, longName, longLink }: Ahead): Omit<TarEntry, "content"> {
  const path = records?.get("path");
  const linkPath = records?.get("linkpath");
  const name = path ?? longName ?? header.name;
  const refuse = (reason: string) => new TarRefusal(name, reason);
  if ((path !== undefined && longName !== null) || (linkPath !== undefined && longLink !== null))
    throw refuse("two headers give it different names");
  const { mode, sizeBytes, type } = header;
  const kind = KINDS[type];
  if (kind === undefined)
    throw refuse(`it is ${REFUSED[type] ?? `an entry of the unknown type ${JSON.stringify(type)}`}`);
  const sparse = [...(records?.keys() ?? [])].some((key) => key.startsWith("GNU.sparse."));
  if (sparse) throw refuse("it is a sparse file");
  const size = records?.get("size");
  if (size !== undefined && size !== String(sizeBytes)) throw refuse("two headers give it different sizes");
  if (kind !== "file" && sizeBytes !== 0) throw refuse("it has content, but is no file");
  if (kind === "file" && name.endsWith("/")) throw refuse("it is a file with the name of a folder");
  const kept = [...(records ?? [])].filter(([key]) => !["path", "linkpath", "size"].includes(key));
  const isLink = kind === "link" || kind === "hardlink";
  const linkTo = isLink ? (linkPath ?? longLink ?? header.linkTo) : "";
  return { name, kind, mode, sizeBytes, linkTo, records: Object.fromEntries(kept) };
}

/** Bytes of a stream on demand, never more of it in memory than one chunk. */
class ByteSource {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #held: Uint8Array = new Uint8Array();

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** At most `length` bytes that come next; null at the end. */
  async #some(length: number): Promise<Uint8Array | null> {
    while (this.#held.length === 0) {
      const next = await this.#chunks.next();
      if (next.done === true) return null;
      this.#held = next.value;
    }
    const taken = this.#held.subarray(0, length);
    this.#held = this.#held.subarray(length);
    return taken;
  }

  /** The next block; null at the end, TarRefusal for half of one. */
  async block(): Promise<Uint8Array | null> {
    if (this.#held.length >= BLOCK) return this.#some(BLOCK);
    const block = new Uint8Array(BLOCK);
    for (let at = 0; at < BLOCK; ) {
      const some = await this.#some(BLOCK - at);
      if (some === null && at === 0) return null;
      if (some === null) throw new TarRefusal(null, "it ends in the middle of a header");
      block.set(some, at);
      at += some.length;
    }
    return block;
  }

  /** Exactly `length` bytes; a second reading goes on where the first ended. */
  content(length: number, name: string): AsyncIterable<Uint8Array> {
    let left = length;
    const next = async (): Promise<IteratorResult<Uint8Array>> => {
      if (left === 0) return { done: true, value: undefined };
      const some = await this.#some(left);
      if (some === null) throw new TarRefusal(name, "the archive ends in the middle of it");
      left -= some.length;
      return { done: false, value: some };
    };
    return { [Symbol.asyncIterator]: () => ({ next }) };
  }

  async skipPadding(sizeBytes: number, name: string): Promise<void> {
    for await (const _ of this.content((BLOCK - (sizeBytes % BLOCK)) % BLOCK, name));
  }

  /** Reads to the end: archives are filled up with zeros. */
  async requireZeros(): Promise<void> {
    for (let some = await this.#some(1 << 20); some !== null; some = await this.#some(1 << 20)) {
      if (some.some((byte) => byte !== 0)) throw new TarRefusal(null, "something stands behind its end");
    }
  }
}
