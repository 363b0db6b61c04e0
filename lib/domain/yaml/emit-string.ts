/** Writes strings in the style that keeps them. */
import { BOM, isBreak } from "./characters.ts";
import { analyze, chooseStyle, isPlainWord, isPrintable } from "./scalar-style.ts";
import type { TextWriter } from "./text-writer.ts";

/** Columns per level of nesting; also the digit that a literal block with a leading space gets. */
export const INDENT = 4;

const MAX_KEY_BYTES = 128;

const SHORT_ESCAPES = new Map([
  [0x00, "\\0"],
  [0x07, "\\a"],
  [0x08, "\\b"],
  [0x09, "\\t"],
  [0x0a, "\\n"],
  [0x0b, "\\v"],
  [0x0c, "\\f"],
  [0x0d, "\\r"],
  [0x1b, "\\e"],
  [0x22, '\\"'],
  [0x5c, "\\\\"],
  [0x85, "\\N"],
  [0xa0, "\\_"],
  [0x2028, "\\L"],
  [0x2029, "\\P"],
]);

function escaped(code: number): string {
  const short = SHORT_ESCAPES.get(code);
  if (short !== undefined) return short;
  const hex = code.toString(16).toUpperCase();
  if (code <= 0xff) return `\\x${hex.padStart(2, "0")}`;
  return code > 0xffff ? `\\U${hex.padStart(8, "0")}` : `\\u${hex.padStart(4, "0")}`;
}

/** Double quoted form. A leading byte order mark escapes every character, as the known IDs have it. */
function doubleQuoted(text: string): string {
  const all = text.charCodeAt(0) === BOM;
  let quoted = '"';
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    const plain = !all && code <= 0xffff && isPrintable(code) && !isBreak(code);
    quoted += plain && character !== '"' && character !== "\\" ? character : escaped(code);
  }
  return `${quoted}"`;
}

/** Calls back for every line break and every run of other characters. */
function eachRun(text: string, onBreak: (character: string) => void, onRun: (run: string) => void): void {
  let start = 0;
  for (let i = 0; i < text.length; i += 1) {
    if (!isBreak(text.charCodeAt(i))) continue;
    if (i > start) onRun(text.slice(start, i));
    onBreak(text.charAt(i));
    start = i + 1;
  }
  if (start < text.length) onRun(text.slice(start));
}

/** Writes the breaks as they are, and every line between them from the column on; `fresh`: the first one begins a line. */
function writeLines(
  writer: TextWriter,
  text: string,
  { column, fresh }: { column: number; fresh: boolean },
  writeRun: (run: string) => void,
): void {
  let atStart = fresh;
  eachRun(
    text,
    (character) => {
      writer.lineBreak(character);
      atStart = true;
    },
    (run) => {
      if (atStart) writer.indent(column);
      writeRun(run);
      atStart = false;
    },
  );
}

function writeSingle(writer: TextWriter, text: string, column: number): void {
  writer.separate();
  writer.content("'");
  writeLines(writer, text, { column, fresh: false }, (run) =>
    writer.foldable(run.replaceAll("'", "''"), column),
  );
  writer.content("'");
}

function chompingSign(text: string): string {
  if (!isBreak(text.charCodeAt(text.length - 1))) return "-";
  return text.length === 1 || isBreak(text.charCodeAt(text.length - 2)) ? "+" : "";
}

function writeLiteral(writer: TextWriter, text: string, column: number): void {
  writer.separate();
  writer.content(`|${text.startsWith(" ") ? INDENT : ""}${chompingSign(text)}`);
  writer.literalStart();
  writeLines(writer, text, { column, fresh: true }, (run) => writer.literalRun(run));
}

/** Writes a string; lines after the first one begin at the column. */
export function writeString(writer: TextWriter, text: string, column: number): void {
  const style = isPlainWord(text) ? "plain" : chooseStyle(text, analyze(text));
  if (style === "literal") writeLiteral(writer, text, column);
  else if (style === "single") writeSingle(writer, text, column);
  else {
    writer.separate();
    if (style === "double") writer.content(doubleQuoted(text));
    else writer.foldable(text, column);
  }
}

/** True when a string can stand in front of ":" without "?". */
export function isSimpleKey(text: string): boolean {
  if (text.length > MAX_KEY_BYTES) return false;
  if (isPlainWord(text)) return true;
  if (analyze(text).multiline) return false;
  return text.length * 3 <= MAX_KEY_BYTES || new TextEncoder().encode(text).length <= MAX_KEY_BYTES;
}
