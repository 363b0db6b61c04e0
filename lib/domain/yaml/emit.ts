/** Writes values as block style YAML: four columns per level, folded only when asked, maps in the order of their entries. */
import type { OptionValue } from "../schematic-types.ts";
import { INDENT, isSimpleKey, writeString } from "./emit-string.ts";
import { TextWriter } from "./text-writer.ts";
import { parseTimestamp } from "./timestamp.ts";

/** Power of ten from which on a float is written with an exponent. */
const EXPONENT_FROM = 6;
const EXPONENT_BELOW = -4;

/** The shortest text that reads back as the same float: 1.5, 1000, 1e+20, 1e-07, .inf. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return ".nan";
  if (!Number.isFinite(value)) return value > 0 ? ".inf" : "-.inf";
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const [mantissa = "", exponentText = "0"] = Math.abs(value).toExponential().split("e");
  const exponent = Number(exponentText);
  const digits = mantissa.replace(".", "");
  const sign = value < 0 ? "-" : "";
  if (exponent < EXPONENT_BELOW || exponent >= EXPONENT_FROM) {
    return `${sign}${mantissa}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  }
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  const fraction = digits.slice(exponent + 1);
  return fraction === "" ? sign + whole : `${sign}${whole}.${fraction}`;
}

/** Next level: the first multiple of four beyond the column. */
const deeper = (column: number): number => column - (column % INDENT) + INDENT;

function writeBare(writer: TextWriter, text: string): void {
  writer.separate();
  writer.content(text);
}

function writeScalar(
  writer: TextWriter,
  value: Exclude<OptionValue, string | OptionValue[] | Map<OptionValue, OptionValue>>,
): void {
  if (typeof value === "number") writeBare(writer, floatText(value));
  else if (value === null || typeof value !== "object") writeBare(writer, String(value));
  else {
    const readsBack = parseTimestamp(value.timestamp) !== null;
    writeBare(writer, readsBack ? value.timestamp : `!!timestamp ${value.timestamp}`);
  }
}

/** Writes a value; `column` is where its own lines begin when it needs more than one. */
function writeValue(writer: TextWriter, value: OptionValue, column: number): void {
  if (typeof value === "string") writeString(writer, value, column);
  else if (Array.isArray(value)) {
    if (value.length === 0) writeBare(writer, "[]");
    else writeList(writer, value, column);
  } else if (value instanceof Map) {
    if (value.size === 0) writeBare(writer, "{}");
    else writeMap(writer, value, column);
  } else writeScalar(writer, value);
}

function writeList(writer: TextWriter, items: OptionValue[], column: number): void {
  for (const item of items) {
    writer.indent(column);
    writer.sign("-");
    writeValue(writer, item, column + 2);
  }
}

function writeMap(writer: TextWriter, map: Map<OptionValue, OptionValue>, column: number): void {
  for (const [key, value] of map) {
    writer.indent(column);
    if (typeof key === "string" && !isSimpleKey(key)) {
      writer.sign("?");
      writeValue(writer, key, deeper(column));
      writer.indent(column);
      writer.sign(":");
    } else {
      writeValue(writer, key, deeper(column));
      writer.colon();
    }
    writeValue(writer, value, deeper(column));
  }
}

/**
 * Text of a document whose root is a map with at least one entry, closed by one line break. Long texts are folded
 * beyond the column `foldAt`, if any. Errors: too_large beyond 8 MiB.
 */
export function emitDocument(root: Map<OptionValue, OptionValue>, foldAt?: number): string {
  const writer = new TextWriter(foldAt);
  writeMap(writer, root, 0);
  return writer.finish();
}
