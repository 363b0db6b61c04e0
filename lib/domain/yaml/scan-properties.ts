/** Anchors, aliases, tags and the %YAML and %TAG directives. */
import {
  codeOf,
  endsAnchor,
  hexValue,
  isAnchorCharacter,
  isBlank,
  isBlankOrEnd,
  isBreakOrEnd,
  isDigit,
  isTagCharacter,
  isWord,
} from "./characters.ts";
import type { Cursor } from "./cursor.ts";
import type { Construct, Mark } from "./failure.ts";
import type { Token } from "./tokens.ts";

const BANG = codeOf("!");
const PERCENT = codeOf("%");
const HASH = codeOf("#");

/** Reads an anchor or alias; the cursor stands at "&" or "*". */
export function scanAnchor(cursor: Cursor, type: "anchor" | "alias"): Token {
  const start = cursor.mark();
  cursor.skip();
  const name = cursor.takeWhile(isAnchorCharacter);
  if (name === "" || !(isBlankOrEnd(cursor.code()) || endsAnchor(cursor.code()))) {
    const doing = `while scanning an ${type}`;
    throw cursor.failure("did not find expected alphabetic or numeric character", { doing, from: start });
  }
  return { type, start, end: cursor.mark(), text: name, suffix: "", quoted: false };
}

function scanUriEscapes(cursor: Cursor, context: Construct): string {
  const bytes: number[] = [];
  while (cursor.code() === PERCENT) {
    const high = hexValue(cursor.code(1));
    const low = hexValue(cursor.code(2));
    if (high < 0 || low < 0) throw cursor.failure("did not find URI escaped octet", context);
    bytes.push(high * 16 + low);
    for (let i = 0; i < 3; i += 1) cursor.skip();
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(bytes));
  } catch {
    throw cursor.failure("found an incorrect UTF-8 octet", context);
  }
}

function scanUri(cursor: Cursor, verbatim: boolean, context: Construct): string {
  let uri = "";
  while (isTagCharacter(cursor.code(), verbatim)) {
    uri += cursor.code() === PERCENT ? scanUriEscapes(cursor, context) : cursor.take();
  }
  const code = cursor.code();
  if (!verbatim && !isBlankOrEnd(code) && code >= 0x20 && code <= 0x7e) {
    const shown = String.fromCharCode(code);
    throw cursor.failure(`found character '${shown}' that is not allowed in a YAML tag`, context);
  }
  return uri;
}

function scanHandle(cursor: Cursor, context: Construct): string {
  if (cursor.code() !== BANG) throw cursor.failure("did not find expected '!'", context);
  const handle = cursor.take() + cursor.takeWhile(isWord);
  return cursor.code() === BANG ? handle + cursor.take() : handle;
}

/** Reads a tag; the cursor stands at "!". A verbatim tag and the lone "!" have an empty handle. */
export function scanTag(cursor: Cursor): Token {
  const start = cursor.mark();
  const context = { doing: "while parsing a tag", from: start };
  const scanning = { doing: "while scanning a tag", from: start };
  let handle = "";
  let suffix = "";
  if (cursor.code(1) === codeOf("<")) {
    cursor.skip();
    cursor.skip();
    suffix = scanUri(cursor, true, context);
    if (suffix === "") throw cursor.failure("did not find expected tag URI", context);
    if (cursor.code() !== codeOf(">")) throw cursor.failure("did not find the expected '>'", scanning);
    cursor.skip();
  } else {
    handle = scanHandle(cursor, context);
    if (handle.length > 1 && handle.endsWith("!")) {
      suffix = scanUri(cursor, false, context);
      if (suffix === "") throw cursor.failure("did not find expected tag URI", context);
    } else {
      suffix = handle.slice(1) + scanUri(cursor, false, context);
      handle = suffix === "" ? "" : "!";
      if (suffix === "") suffix = "!";
    }
  }
  if (!isBlankOrEnd(cursor.code())) {
    throw cursor.failure("did not find expected whitespace or line break", scanning);
  }
  return { type: "tag", start, end: cursor.mark(), text: handle, suffix, quoted: false };
}

function scanVersionNumber(cursor: Cursor, context: Construct): string {
  let digits = "";
  while (isDigit(cursor.code())) {
    if (digits.length === 2) throw cursor.failure("found extremely long version number", context);
    digits += cursor.take();
  }
  if (digits === "") throw cursor.failure("did not find expected version number", context);
  return String(Number(digits));
}

function scanVersion(cursor: Cursor, start: Mark): Token {
  const context = { doing: "while scanning a %YAML directive", from: start };
  cursor.takeWhile(isBlank);
  const major = scanVersionNumber(cursor, context);
  if (cursor.code() !== codeOf(".")) {
    throw cursor.failure("did not find expected digit or '.' character", context);
  }
  cursor.skip();
  const text = `${major}.${scanVersionNumber(cursor, context)}`;
  return { type: "version-directive", start, end: cursor.mark(), text, suffix: "", quoted: false };
}

function scanTagDirective(cursor: Cursor, start: Mark): Token {
  const context = { doing: "while parsing a %TAG directive", from: start };
  const scanning = { doing: "while scanning a %TAG directive", from: start };
  cursor.takeWhile(isBlank);
  const text = scanHandle(cursor, context);
  if (text !== "!" && !text.endsWith("!")) throw cursor.failure("did not find expected '!'", context);
  if (!isBlank(cursor.code())) throw cursor.failure("did not find expected whitespace", scanning);
  cursor.takeWhile(isBlank);
  const suffix = scanUri(cursor, true, context);
  if (suffix === "") throw cursor.failure("did not find expected tag URI", context);
  if (!isBlankOrEnd(cursor.code())) {
    throw cursor.failure("did not find expected whitespace or line break", scanning);
  }
  return { type: "tag-directive", start, end: cursor.mark(), text, suffix, quoted: false };
}

/** Reads a directive with the rest of its line; the cursor stands at "%". */
export function scanDirective(cursor: Cursor): Token {
  const start = cursor.mark();
  const context = { doing: "while scanning a directive", from: start };
  cursor.skip();
  const name = cursor.takeWhile(isWord);
  if (name === "") throw cursor.failure("could not find expected directive name", context);
  if (!isBlankOrEnd(cursor.code())) {
    throw cursor.failure("found unexpected non-alphabetical character", context);
  }
  if (name !== "YAML" && name !== "TAG") throw cursor.failure("found unknown directive name", context);
  const token = name === "YAML" ? scanVersion(cursor, start) : scanTagDirective(cursor, start);
  cursor.takeWhile(isBlank);
  if (cursor.code() === HASH) cursor.takeWhile((code) => !isBreakOrEnd(code));
  if (!isBreakOrEnd(cursor.code())) {
    throw cursor.failure("did not find expected comment or line break", context);
  }
  cursor.takeBreak();
  return token;
}
