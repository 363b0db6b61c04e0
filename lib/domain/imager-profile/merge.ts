/** Lays a request over the profile it inherits from. */
import type { ImagerProfile } from "./types.ts";

/** Texts that mean "not chosen" and so leave the base as it is. */
const UNCHOSEN: Record<string, string> = {
  kind: "unknown",
  outFormat: "unknown",
  diskFormat: "unknown",
  sdBootEnrollKeys: "if-safe",
  bootloader: "none",
};
/** The one boolean that can be left out; others are false when a request does not name them. */
const NULLABLE = "secureboot";

type Fields = Record<string, unknown>;

/**
 * The base with the request on top: lists are joined (base first), maps and nested fields merge one by one, texts and
 * numbers of the request win unless empty or 0, booleans win always. Neither argument is changed.
 */
export function mergeProfile(base: ImagerProfile, request: ImagerProfile): ImagerProfile {
  const { baseProfileName: _inherited, ...own } = request;
  return mergeFields(fieldsOf(base), fieldsOf(own));
}

const fieldsOf = (value: object): Fields => Object.fromEntries(Object.entries(value));

function mergeFields(base: Fields, request: Fields): Fields {
  const merged: Fields = {};
  for (const key of new Set([...Object.keys(base), ...Object.keys(request)])) {
    merged[key] = mergeValue(key, base[key], request[key]);
  }
  return merged;
}

function mergeValue(key: string, base: unknown, request: unknown): unknown {
  if (Array.isArray(base) || Array.isArray(request)) return [...listOf(base), ...listOf(request)];
  if (isFields(base) && isFields(request)) return mergeFields(base, request);
  if (typeof base === "boolean" && request === undefined) return key === NULLABLE && base;
  const unchosen = request === undefined || request === "" || request === 0 || request === UNCHOSEN[key];
  return unchosen && base !== undefined ? structuredClone(base) : structuredClone(request);
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? structuredClone(value) : []);

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
