/** GUIDs as UEFI stores them, and the fixed ones derived from a label. */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { AppError } from "../errors/app-error.ts";

const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Where each byte of the text form goes: UEFI 2.10 appendix A, the first three fields are little-endian. */
const ORDER = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];

const reorder = (bytes: Uint8Array): Uint8Array => Uint8Array.from(ORDER, (from) => bytes[from] ?? 0);

const toText = (bytes: Uint8Array): string =>
  bytesToHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");

/** The 16 bytes of a GUID in the mixed-endian form of UEFI; internal when the text is no GUID. */
export function guidBytes(text: string): Uint8Array {
  if (!GUID.test(text)) throw new AppError("internal", `${text} is not a GUID`, { retryable: false });
  return reorder(hexToBytes(text.replaceAll("-", "").toLowerCase()));
}

/** Lower-case text of 16 mixed-endian bytes. */
export const guidText = (bytes: Uint8Array): string => toText(reorder(bytes));

/**
 * The fixed GUID of a label: a UUIDv8 (RFC 9562 section 5.8) from SHA-256 over the nil namespace and the label,
 * so that every image of every machine carries the same ones.
 */
export const guidFromLabel = (label: string): string =>
  hashedGuid(new Uint8Array(16), utf8ToBytes(label), 0x80);

/** A GUID from SHA-256 over a namespace of 16 bytes and a name; `version` is the upper half of byte 6, as 0x40 or 0x80. */
export function hashedGuid(namespace: Uint8Array, name: Uint8Array, version: number): string {
  const bytes = sha256(concatBytes(namespace, name)).slice(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | version;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return toText(bytes);
}
