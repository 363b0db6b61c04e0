/** Literal and folded block scalars. */
import { codeOf, isBlank, isBreak, isBreakOrEnd, isDigit, SPACE, TAB } from "./characters.ts";
import type { Cursor } from "./cursor.ts";
import type { Construct, Mark } from "./failure.ts";
import type { Token } from "./tokens.ts";

interface Header {
  chomping: "clip" | "strip" | "keep";
  /** Explicit indentation, 0 when it is to be found out. */
  increment: number;
}

const HASH = codeOf("#");

function scanChomping(cursor: Cursor, header: Header): void {
  const code = cursor.code();
  if (code !== codeOf("+") && code !== codeOf("-")) return;
  header.chomping = code === codeOf("+") ? "keep" : "strip";
  cursor.skip();
}

function scanIncrement(cursor: Cursor, header: Header, context: Construct): void {
  if (!isDigit(cursor.code())) return;
  if (cursor.code() === codeOf("0")) {
    throw cursor.failure("found an indentation indicator equal to 0", context);
  }
  header.increment = cursor.code() - codeOf("0");
  cursor.skip();
}

function scanHeader(cursor: Cursor, context: Construct): Header {
  const header: Header = { chomping: "clip", increment: 0 };
  scanChomping(cursor, header);
  const chompedFirst = header.chomping !== "clip";
  scanIncrement(cursor, header, context);
  if (!chompedFirst && header.increment > 0) scanChomping(cursor, header);
  cursor.takeWhile(isBlank);
  if (cursor.code() === HASH) cursor.takeWhile((code) => !isBreakOrEnd(code));
  if (!isBreakOrEnd(cursor.code())) {
    throw cursor.failure("did not find expected comment or line break", context);
  }
  cursor.takeBreak();
  return header;
}

/** Reads indentation and empty lines; with indent 0 it is found out from the deepest leading line. */
function scanBreaks(
  cursor: Cursor,
  state: { indent: number; parentIndent: number; end: Mark },
  context: Construct,
): string {
  let breaks = "";
  let deepest = 0;
  state.end = cursor.mark();
  for (;;) {
    while ((state.indent === 0 || cursor.column < state.indent) && cursor.code() === SPACE) cursor.skip();
    deepest = Math.max(deepest, cursor.column);
    if ((state.indent === 0 || cursor.column < state.indent) && cursor.code() === TAB) {
      throw cursor.failure("found a tab character where an indentation space is expected", context);
    }
    if (!isBreak(cursor.code())) break;
    breaks += cursor.takeBreak();
    state.end = cursor.mark();
  }
  if (state.indent === 0) state.indent = Math.max(deepest, state.parentIndent + 1, 1);
  return breaks;
}

/** Reads a block scalar; the cursor stands at "|" or ">". `indent` is the column of the enclosing block, -1 at the top. */
export function scanBlock(cursor: Cursor, indent: number): Token {
  const start = cursor.mark();
  const context = { doing: "while scanning a block scalar", from: start };
  const literal = cursor.code() === codeOf("|");
  cursor.skip();
  const header = scanHeader(cursor, context);
  const explicit = indent >= 0 ? indent + header.increment : header.increment + 1;
  const state = { indent: header.increment > 0 ? explicit : 0, parentIndent: indent, end: cursor.mark() };
  let text = "";
  let lastBreak = "";
  let startedBlank = false;
  let emptyLines = scanBreaks(cursor, state, context);
  while (cursor.column === state.indent && cursor.code() !== 0) {
    const startsBlank = isBlank(cursor.code());
    const fold = !literal && !startedBlank && !startsBlank && lastBreak === "\n";
    if (!fold) text += lastBreak;
    else if (emptyLines === "") text += " ";
    text += emptyLines;
    startedBlank = startsBlank;
    text += cursor.takeWhile((code) => !isBreakOrEnd(code));
    lastBreak = cursor.takeBreak();
    emptyLines = scanBreaks(cursor, state, context);
  }
  if (header.chomping !== "strip") text += lastBreak;
  if (header.chomping === "keep") text += emptyLines;
  return { type: "scalar", start, end: state.end, text, suffix: "", quoted: true };
}
