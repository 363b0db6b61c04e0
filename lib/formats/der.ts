/** DER (ITU-T X.690 §10): the few types that certificates and signatures are made of, written and read. */
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";

export interface DerNode {
  /** Identifier octet. */
  tag: number;
  /** The element with identifier and length. */
  whole: Uint8Array;
  content: Uint8Array;
}

const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const NULL = 0x05;
const OBJECT_IDENTIFIER = 0x06;
const UTF8_STRING = 0x0c;
const UTC_TIME = 0x17;
const GENERALIZED_TIME = 0x18;
const SEQUENCE = 0x30;
const SET = 0x31;

/** One element: identifier octet, length, the parts one after the other. */
export function der(tag: number, ...parts: Uint8Array[]): Uint8Array {
  const content = concatBytes(...parts);
  return concatBytes(Uint8Array.of(tag), lengthOctets(content.length), content);
}

function lengthOctets(length: number): Uint8Array {
  if (length < 0x80) return Uint8Array.of(length);
  const octets: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256);
  return Uint8Array.of(0x80 | octets.length, ...octets);
}

export const derSequence = (...parts: Uint8Array[]): Uint8Array => der(SEQUENCE, ...parts);
/** A set of elements that are in order already. */
export const derSet = (...parts: Uint8Array[]): Uint8Array => der(SET, ...parts);
export const derNull = (): Uint8Array => der(NULL);
export const derOctets = (bytes: Uint8Array): Uint8Array => der(OCTET_STRING, bytes);
export const derText = (text: string): Uint8Array => der(UTF8_STRING, utf8ToBytes(text));
/** A bit string; `unused` counts the bits of the last octet that do not belong to it. */
export const derBits = (bytes: Uint8Array, unused = 0): Uint8Array =>
  der(BIT_STRING, Uint8Array.of(unused), bytes);
/** The context-specific constructed tag [number]: an explicit wrapper, or an implicit one for constructed types. */
export const derContext = (number: number, ...parts: Uint8Array[]): Uint8Array =>
  der(0xa0 | number, ...parts);

/** A non-negative integer from big-endian bytes. */
export function derInteger(bytes: Uint8Array): Uint8Array {
  const start = bytes.findIndex((byte) => byte !== 0);
  const digits = start < 0 ? Uint8Array.of(0) : bytes.subarray(start);
  return der(INTEGER, (digits[0] ?? 0) >= 0x80 ? Uint8Array.of(0) : new Uint8Array(), digits);
}

/** An object identifier from its dotted form. */
export function derOid(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const octets = [first * 40 + second, ...rest].flatMap((arc) => {
    const groups = [arc % 128];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128))
      groups.unshift(0x80 | (left % 128));
    return groups;
  });
  return der(OBJECT_IDENTIFIER, Uint8Array.from(octets));
}

/** A time to the second, in the form RFC 5280 §4.1.2.5 wants: two digits of the year before 2050, four from then on. */
export function derTime(time: Date): Uint8Array {
  const digits = time.toISOString().replace(/[-:T]|\.\d+/g, "");
  return time.getUTCFullYear() < 2050
    ? der(UTC_TIME, utf8ToBytes(digits.slice(2)))
    : der(GENERALIZED_TIME, utf8ToBytes(digits));
}

/** The element at the start of `bytes`. Throws RangeError when it is cut off or uses a form DER does not have. */
export function readDer(bytes: Uint8Array): DerNode {
  const [tag, first] = bytes;
  if (tag === undefined || first === undefined) throw new RangeError("the DER element is cut off");
  let start = 2;
  let length = first;
  if (first >= 0x80) {
    const count = first & 0x7f;
    if (count === 0 || count > 4) throw new RangeError("the DER length has a form that is not read");
    length = 0;
    for (const octet of bytes.subarray(2, 2 + count)) length = length * 256 + octet;
    start += count;
  }
  if (start + length > bytes.length) throw new RangeError("the DER element is cut off");
  return { tag, whole: bytes.subarray(0, start + length), content: bytes.subarray(start, start + length) };
}

/** The elements inside a constructed element's content. */
export function readDerList(content: Uint8Array): DerNode[] {
  const nodes: DerNode[] = [];
  for (let at = 0; at < content.length; ) {
    const node = readDer(content.subarray(at));
    nodes.push(node);
    at += node.whole.length;
  }
  return nodes;
}
