/** META values on the kernel command line: `talos.environment=INSTALLER_META_BASE64=…`, written and read back. */
import { gunzipSync, gzipSync } from "fflate";
import { invalidInput } from "../errors/app-error.ts";
import { quirks } from "./quirks.ts";
import type { MetaValue } from "./recipe-types.ts";

/** Longer texts are compressed where the release can read that. Bytes. */
const PLAIN_LIMIT = 256;
/** No honest list of values comes near this; it bounds what a decoder may be made to unpack. Bytes. */
const UNPACKED_LIMIT = 1024 * 1024;
const SEPARATOR = ";";

const keyName = (key: number) => `0x${key.toString(16)}`;

/** Throws invalid_input for a value that would not come back from the encoding: values are separated by ";". */
export function checkMetaEnvironment(meta: readonly MetaValue[]): void {
  const damaged = meta.find(({ value }) => value.includes(SEPARATOR));
  if (damaged === undefined) return;
  throw invalidInput(
    `META value of key ${keyName(damaged.key)} contains ";", which cannot be passed on the kernel command line`,
    {
      hint: 'Write the value without ";" (as YAML or JSON with line ends), or use a disk image, which stores it as it is.',
    },
  );
}

function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

function fromBase64(text: string): Uint8Array {
  let binary: string;
  try {
    binary = atob(text);
  } catch (cause) {
    throw invalidInput("META values are not base64", { cause });
  }
  return Uint8Array.from(binary, (char) => char.charCodeAt(0));
}

/**
 * Base64 (RFC 4648 section 4) of `0xa=foo;0xb=bar`, gzip-compressed (RFC 1952, no time stamp) above 256 bytes where
 * the release can read it. The same values always give the same text. Throws invalid_input, see checkMetaEnvironment.
 */
export function encodeMeta(meta: readonly MetaValue[], version: string): string {
  checkMetaEnvironment(meta);
  const text = meta.map(({ key, value }) => `${keyName(key)}=${value}`).join(SEPARATOR);
  const plain = new TextEncoder().encode(text);
  const compress = plain.length > PLAIN_LIMIT && quirks(version).compressedMetaEnvironment;
  return toBase64(compress ? gzipSync(plain, { level: 9, mtime: 0 }) : plain);
}

/** Value of the argument `talos.environment`: `INSTALLER_META_BASE64=<payload>`. */
export function metaEnvironment(meta: readonly MetaValue[], version: string): string {
  return `INSTALLER_META_BASE64=${encodeMeta(meta, version)}`;
}

function unpack(bytes: Uint8Array): Uint8Array {
  if (bytes.length < 10 || bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(bytes.length - 4, true);
  if (size > UNPACKED_LIMIT) throw invalidInput("META values unpack to more than 1 MiB");
  try {
    return gunzipSync(bytes, { out: new Uint8Array(size) });
  } catch (cause) {
    throw invalidInput("META values are damaged gzip data", { cause });
  }
}

function parseKey(text: string): number {
  const key = /^(0[xX][0-9a-fA-F]+|0[oO][0-7]+|\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (!(key <= 255)) throw invalidInput(`META key "${text}" is not a number from 0 to 255`);
  return key;
}

/** Reads what encodeMeta wrote, as a booting node does. Throws invalid_input for anything damaged. */
export function decodeMeta(base64: string): MetaValue[] {
  const text = new TextDecoder("utf-8").decode(unpack(fromBase64(base64)));
  return text.split(SEPARATOR).map((item) => {
    const at = item.indexOf("=");
    if (at < 0) throw invalidInput(`META item "${item}" has no "="`);
    return { key: parseKey(item.slice(0, at)), value: item.slice(at + 1) };
  });
}
