/** META values as the form keeps them: which keys are known, what they hold, and what is wrong with a value. */
import { AppError } from "../../errors/app-error.ts";
import { RECORD_HEAD, RECORDS_LIMIT } from "../../formats/adv.ts";
import type { MetaValue } from "../recipe-types.ts";
import { parseDocument } from "../yaml/parser.ts";

export interface MetaField {
  /** As typed: 10 or 0xa. */
  key: string;
  value: string;
}

/** Keys that people set, by what they mean (docs/web.md, "META"). */
export const META_NAMES = {
  network: 0x0a,
  code: 0x0b,
  own1: 0x0c,
  own2: 0x0d,
  own3: 0x0e,
  uuid: 0x0f,
  token: 0x10,
  encryption: 0x09,
} as const;
export type MetaName = keyof typeof META_NAMES;
const isMetaName = (text: string): text is MetaName => Object.hasOwn(META_NAMES, text);
const NAMES: MetaName[] = Object.keys(META_NAMES).filter(isMetaName);

/** Keys that a running node writes by itself. */
const MANAGED = new Set([0x06, 0x07, 0x08, 0x11]);
/** Values that let somebody in. */
const SECRET_KEYS = new Set<number>([META_NAMES.token, META_NAMES.encryption]);
const SECRET_WORDS = /private|secret|token|passw|passphrase|presharedkey/i;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export type MetaFault = "key" | "json" | "yaml" | "uuid" | "size";

/** The number of a typed key; null when it is none from 0 to 255. */
export function metaKey(text: string): number | null {
  const plain = text.trim();
  const key = /^(?:0x[0-9a-f]{1,2}|\d{1,3})$/i.test(plain) ? Number(plain) : Number.NaN;
  return key <= 255 ? key : null;
}

/** "0xa": how a key is written for people. */
export const keyText = (key: number): string => `0x${key.toString(16)}`;

/** What a typed key is known as; null for others. */
export function metaName(text: string): MetaName | null {
  const key = metaKey(text);
  return NAMES.find((name) => META_NAMES[name] === key) ?? null;
}

/** True for keys that the node overwrites or deletes. */
export const isManagedKey = (text: string): boolean => MANAGED.has(metaKey(text) ?? -1);

/** True for values that must not be written into an address. */
export const mayBeSecret = ({ key, value }: MetaField): boolean =>
  SECRET_KEYS.has(metaKey(key) ?? -1) || SECRET_WORDS.test(value);

/** The values as a schematic holds them. Null when a key is no key. */
export function metaValues(fields: readonly MetaField[]): MetaValue[] | null {
  const values: MetaValue[] = [];
  for (const { key: text, value } of fields) {
    const key = metaKey(text);
    if (key === null) return null;
    values.push({ key, value });
  }
  return values;
}

/** The fields for values of a schematic. */
export const metaFields = (values: readonly MetaValue[]): MetaField[] =>
  values.map(({ key, value }) => ({ key: keyText(key), value }));

function isMap(text: string): boolean {
  try {
    return parseDocument(text)?.kind === "mapping";
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** What is wrong with one value; null when nothing is known to be. */
export function metaFault({ key: text, value }: MetaField): MetaFault | null {
  const key = metaKey(text);
  if (key === null) return "key";
  if (key === META_NAMES.network && !isMap(value)) return "yaml";
  if (key === META_NAMES.encryption && !isJson(value)) return "json";
  return key === META_NAMES.uuid && !UUID.test(value.trim()) ? "uuid" : null;
}

/** Bytes that the values take on a disk; a repeated key counts once. */
export function metaBytes(fields: readonly MetaField[]): number {
  const encoder = new TextEncoder();
  const sizes = new Map(fields.map(({ key, value }) => [metaKey(key), encoder.encode(value).length]));
  return [...sizes.values()].reduce((sum, size) => sum + size + RECORD_HEAD, 0);
}

/** Bytes that a disk image holds. */
export const META_LIMIT = RECORDS_LIMIT;
