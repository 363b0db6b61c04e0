/** Quotes names inside error messages exactly as the public service does, so that clients can compare texts. */

const SHORT: Record<string, string> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  '"': '\\"',
  "\\": "\\\\",
};

const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

function quoteChar(char: string): string {
  const short = SHORT[char];
  if (short !== undefined) return short;
  if (PRINTABLE.test(char)) return char;
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, "0")}`;
  if (code >= 0xd800 && code <= 0xdfff) return "\ufffd";
  return code < 0x10000
    ? `\\u${code.toString(16).padStart(4, "0")}`
    : `\\U${code.toString(16).padStart(8, "0")}`;
}

/**
 * The text in double quotes: quotes, backslashes and everything that does not print are escaped
 * (`\n`, `\x00`, `\u200b`), letters of every script stay.
 */
export function quoteText(text: string): string {
  return `"${Array.from(text, quoteChar).join("")}"`;
}

/** The first characters of a text and a sign that there were more; no pair of surrogates is cut in two. */
export const cutText = (text: string, most: number): string =>
  `${text.slice(0, most).replace(/[\ud800-\udbff]$/, "")}…`;

const LONGEST_NAME = 200;

/** A name for a message: whole, unless it is longer than any name. A schematic may hold names of a whole MiB. */
export const shownName = (name: string): string =>
  name.length <= LONGEST_NAME ? name : cutText(name, LONGEST_NAME);
