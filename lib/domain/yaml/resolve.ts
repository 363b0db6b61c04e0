/** What an unquoted scalar means: null, bool, integer, float, timestamp, merge key or string. */
import { loadError } from "./failure.ts";
import { parseTimestamp } from "./timestamp.ts";

/** A scalar's meaning. Integers are bigint, floats number, timestamps their RFC 3339 text. */
export type Resolved =
  | { tag: "!!null"; value: null }
  | { tag: "!!bool"; value: boolean }
  | { tag: "!!int"; value: bigint }
  | { tag: "!!float"; value: number }
  | { tag: "!!timestamp"; value: { timestamp: string } }
  | { tag: string; value: string };

const WORDS = new Map<string, Resolved>();
const addWords = (resolved: Resolved, ...words: string[]) => {
  for (const word of words) WORDS.set(word, resolved);
};
addWords({ tag: "!!null", value: null }, "", "~", "null", "Null", "NULL");
addWords({ tag: "!!bool", value: true }, "true", "True", "TRUE");
addWords({ tag: "!!bool", value: false }, "false", "False", "FALSE");
addWords({ tag: "!!float", value: Number.NaN }, ".nan", ".NaN", ".NAN");
addWords(
  { tag: "!!float", value: Number.POSITIVE_INFINITY },
  ".inf",
  ".Inf",
  ".INF",
  "+.inf",
  "+.Inf",
  "+.INF",
);
addWords({ tag: "!!float", value: Number.NEGATIVE_INFINITY }, "-.inf", "-.Inf", "-.INF");
addWords({ tag: "!!float", value: -0 }, "-0", "-0.0");
addWords({ tag: "!!merge", value: "<<" }, "<<");

const FIRST_NUMERIC = /^[-+.0-9]/;
const INTEGER = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|([1-9][0-9]*|0))$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const DOT_FLOAT = /^\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?$/;

const MAX_SIGNED = 2n ** 63n - 1n;
const MIN_SIGNED = -(2n ** 63n);
const MAX_UNSIGNED = 2n ** 64n - 1n;
/** No integer of 64 bits is written with more characters. */
const MAX_INTEGER_LENGTH = 200;

function parseInteger(text: string): bigint | null {
  const match = text.length > MAX_INTEGER_LENGTH ? null : INTEGER.exec(text);
  if (match === null) return null;
  const [, sign = "", hex, binary, octal, decimal = "0"] = match;
  let magnitude = BigInt(decimal);
  if (hex !== undefined) magnitude = BigInt(`0x${hex}`);
  else if (binary !== undefined) magnitude = BigInt(`0b${binary}`);
  else if (octal !== undefined) magnitude = BigInt(`0o${octal}`);
  const value = sign === "-" ? -magnitude : magnitude;
  if (value >= MIN_SIGNED && value <= MAX_SIGNED) return value;
  return sign === "" && value <= MAX_UNSIGNED ? value : null;
}

function parseFloatText(text: string, shape: RegExp): number | null {
  if (!shape.test(text)) return null;
  const value = Number(text.replaceAll("_", ""));
  return Number.isFinite(value) ? value : null;
}

function resolveNumeric(text: string, timestamps: boolean): Resolved {
  if (text.startsWith(".")) {
    const value = parseFloatText(text, DOT_FLOAT);
    return value === null ? { tag: "!!str", value: text } : { tag: "!!float", value };
  }
  const timestamp = timestamps ? parseTimestamp(text) : null;
  if (timestamp !== null) return { tag: "!!timestamp", value: { timestamp } };
  const plain = text.replaceAll("_", "");
  const integer = parseInteger(plain);
  if (integer !== null) return { tag: "!!int", value: integer };
  const value = parseFloatText(plain, FLOAT);
  return value === null ? { tag: "!!str", value: text } : { tag: "!!float", value };
}

/** Meaning of an unquoted scalar without a tag. */
function resolvePlain(text: string): Resolved {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  return FIRST_NUMERIC.test(text) ? resolveNumeric(text, true) : { tag: "!!str", value: text };
}

/** Tag of an unquoted scalar without a written tag. */
export const resolveTag = (text: string): string => resolvePlain(text).tag;

const RESOLVABLE = new Set(["!!str", "!!bool", "!!int", "!!float", "!!null", "!!timestamp"]);

/** Meaning of a scalar with a tag; an error of the resolver when the text cannot be what the tag says. */
export function resolveTagged(tag: string, text: string): Resolved {
  if (!RESOLVABLE.has(tag) || tag === "!!str") return { tag, value: text };
  const plain =
    WORDS.get(text) ?? (FIRST_NUMERIC.test(text) ? resolveNumeric(text, tag === "!!timestamp") : null);
  const resolved: Resolved = plain ?? { tag: "!!str", value: text };
  if (resolved.tag === tag) return resolved;
  if (tag === "!!float" && typeof resolved.value === "bigint" && resolved.value <= MAX_SIGNED) {
    return { tag, value: Number(resolved.value) };
  }
  throw loadError("resolver", `cannot construct ${resolved.tag} \`${text}\` as a ${tag}`, null);
}
