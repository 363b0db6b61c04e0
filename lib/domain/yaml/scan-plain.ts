/** Unquoted scalars. */
import { codeOf, isBlank, isBlankOrEnd, isBreak, isFlowIndicator, TAB } from "./characters.ts";
import type { Cursor } from "./cursor.ts";
import { LineFolder } from "./line-folder.ts";
import type { Token } from "./tokens.ts";

const HASH = codeOf("#");
const COLON = codeOf(":");
const QUESTION = codeOf("?");
const AFTER_FLOW_COLON = new Set([..." ,]}"].map(codeOf));

/** True at "---" or "..." that stands alone at the start of a line. */
export function atDocumentIndicator(cursor: Cursor): boolean {
  if (cursor.column !== 1) return false;
  const code = cursor.code();
  if (code !== codeOf("-") && code !== codeOf(".")) return false;
  return cursor.code(1) === code && cursor.code(2) === code && isBlankOrEnd(cursor.code(3));
}

/** Characters that cannot end a plain scalar. */
const isOrdinary = (code: number): boolean =>
  code !== COLON && code !== QUESTION && !isFlowIndicator(code) && !isBlankOrEnd(code);

function endsPlain(cursor: Cursor, inFlow: boolean): boolean {
  const code = cursor.code();
  const next = cursor.code(1);
  if (code === COLON) return isBlankOrEnd(next) || (inFlow && AFTER_FLOW_COLON.has(next));
  if (!inFlow) return false;
  return isFlowIndicator(code) || (code === QUESTION && isBlankOrEnd(next));
}

/**
 * Reads a plain scalar. `indent` is the column of the enclosing block; `brokeLine` tells that it ended after a line
 * break, where a new key may start.
 */
export function scanPlain(
  cursor: Cursor,
  options: { indent: number; inFlow: boolean },
): { token: Token; brokeLine: boolean } {
  const start = cursor.mark();
  const context = { doing: "while scanning a plain scalar", from: start };
  const folder = new LineFolder();
  let end = start;
  while (!atDocumentIndicator(cursor) && cursor.code() !== HASH) {
    const from = cursor.position;
    while (!isBlankOrEnd(cursor.code()) && !endsPlain(cursor, options.inFlow)) {
      folder.add(cursor.takeWhile(isOrdinary) || cursor.take());
    }
    if (cursor.position > from) end = cursor.mark();
    if (!isBlank(cursor.code()) && !isBreak(cursor.code())) break;
    while (isBlank(cursor.code()) || isBreak(cursor.code())) {
      if (isBreak(cursor.code())) {
        folder.lineBreak(cursor.takeBreak());
        continue;
      }
      if (folder.brokeLine && cursor.column <= options.indent && cursor.code() === TAB) {
        throw cursor.failure("found a tab character that violates indentation", context);
      }
      folder.blank(cursor.take());
    }
    if (!options.inFlow && cursor.column <= options.indent) break;
  }
  const token: Token = { type: "scalar", start, end, text: folder.text, suffix: "", quoted: false };
  return { token, brokeLine: folder.brokeLine };
}
