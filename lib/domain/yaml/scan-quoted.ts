/** Single and double quoted scalars with their escapes. */
import { codeOf, hexValue, isBlank, isBlankOrEnd, isBreak, TAB } from "./characters.ts";
import type { Cursor } from "./cursor.ts";
import type { Construct } from "./failure.ts";
import { LineFolder } from "./line-folder.ts";
import { atDocumentIndicator } from "./scan-plain.ts";
import type { Token } from "./tokens.ts";

const BACKSLASH = codeOf("\\");
const QUOTE = codeOf('"');
const APOSTROPHE = codeOf("'");

const ESCAPES = new Map<number, string>([
  [codeOf("0"), "\0"],
  [codeOf("a"), "\x07"],
  [codeOf("b"), "\b"],
  [codeOf("t"), "\t"],
  [TAB, "\t"],
  [codeOf("n"), "\n"],
  [codeOf("v"), "\v"],
  [codeOf("f"), "\f"],
  [codeOf("r"), "\r"],
  [codeOf("e"), "\x1b"],
  [codeOf(" "), " "],
  [QUOTE, '"'],
  [APOSTROPHE, "'"],
  [BACKSLASH, "\\"],
  [codeOf("N"), "\x85"],
  [codeOf("_"), "\xa0"],
  [codeOf("L"), "\u2028"],
  [codeOf("P"), "\u2029"],
]);

const CODE_LENGTHS = new Map([
  [codeOf("x"), 2],
  [codeOf("u"), 4],
  [codeOf("U"), 8],
]);

function scanEscape(cursor: Cursor, context: Construct): string {
  const letter = cursor.code(1);
  const simple = ESCAPES.get(letter);
  const digits = CODE_LENGTHS.get(letter);
  if (simple === undefined && digits === undefined) {
    throw cursor.failure("found unknown escape character", context);
  }
  cursor.skip();
  cursor.skip();
  if (simple !== undefined) return simple;
  let value = 0;
  for (let i = 0; i < (digits ?? 0); i += 1) {
    const digit = hexValue(cursor.code(i));
    if (digit < 0) throw cursor.failure("did not find expected hexadecimal number", context);
    value = value * 16 + digit;
  }
  if ((value >= 0xd800 && value <= 0xdfff) || value > 0x10ffff) {
    throw cursor.failure("found invalid Unicode character escape code", context);
  }
  for (let i = 0; i < (digits ?? 0); i += 1) cursor.skip();
  return String.fromCodePoint(value);
}

/** Characters that mean themselves in both kinds of quotes. */
const isOrdinary = (code: number): boolean =>
  code !== BACKSLASH && code !== QUOTE && code !== APOSTROPHE && !isBlankOrEnd(code);

/** Reads content up to a blank, a break or the closing quote. */
function scanContent(cursor: Cursor, folder: LineFolder, quote: number, context: Construct): void {
  const single = quote === APOSTROPHE;
  while (!isBlankOrEnd(cursor.code())) {
    const code = cursor.code();
    if (code === quote) {
      if (!single || cursor.code(1) !== quote) return;
      cursor.skip();
      folder.add(cursor.take());
    } else if (!single && code === BACKSLASH) {
      if (isBreak(cursor.code(1))) {
        cursor.skip();
        cursor.takeBreak();
        folder.escapedBreak();
        return;
      }
      folder.add(scanEscape(cursor, context));
    } else {
      folder.add(cursor.takeWhile(isOrdinary) || cursor.take());
    }
  }
}

/** Reads a quoted scalar; the cursor stands at the opening quote. */
export function scanQuoted(cursor: Cursor): Token {
  const start = cursor.mark();
  const context = { doing: "while scanning a quoted scalar", from: start };
  const quote = cursor.code();
  const folder = new LineFolder();
  cursor.skip();
  for (;;) {
    if (atDocumentIndicator(cursor)) throw cursor.failure("found unexpected document indicator", context);
    if (cursor.code() === 0) throw cursor.failure("found unexpected end of stream", context);
    scanContent(cursor, folder, quote, context);
    if (cursor.code() === quote) break;
    while (isBlank(cursor.code()) || isBreak(cursor.code())) {
      if (isBreak(cursor.code())) folder.lineBreak(cursor.takeBreak());
      else folder.blank(cursor.take());
    }
  }
  folder.flush();
  cursor.skip();
  return { type: "scalar", start, end: cursor.mark(), text: folder.text, suffix: "", quoted: true };
}
