/** How a string is written: bare, quoted or as a literal block, so that a YAML 1.1 or 1.2 reader gives it back. */
import { BOM, codeOf, isBlank, isBlankOrEnd, isBreak, LF, SPACE, TAB } from "./characters.ts";
import { resolveTag } from "./resolve.ts";

type ScalarStyle = "plain" | "single" | "double" | "literal";

const OLD_BOOLEANS = new Set("y Y yes Yes YES n N no No NO on On ON off Off OFF".split(" "));
const SEXAGESIMAL = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;
const NOT_WHITE_SPACE = /[^\t\n\v\f\r \u0085\p{Zs}\u2028\u2029]/u;
const STARTS_LIKE_MARKER = /^(?:---|\.\.\.)/;
const FIRST_INDICATORS = new Set([..."#,[]{}&*!|>'\"%@`"].map(codeOf));
const FIRST_BEFORE_BLANK = new Set([..."?:-"].map(codeOf));
const DELETE = 0x7f;
const COLON = codeOf(":");
const HASH = codeOf("#");

const WORD = /^[A-Za-z][A-Za-z0-9_./=+-]*$/;

/** True for the common texts that stand bare without further analysis, such as names and kernel arguments. */
export const isPlainWord = (text: string): boolean =>
  WORD.test(text) && !OLD_BOOLEANS.has(text) && resolveTag(text) === "!!str";

/** Characters that may stand unescaped: YAML 1.1 c-printable without tab, NEL, byte order mark and what needs two units. */
export function isPrintable(code: number): boolean {
  if (code < 0xa0) return code === LF || (code >= SPACE && code <= 0x7e);
  return code < 0xd800 || (code > 0xdfff && code < 0xfffe && code !== BOM);
}

interface Analysis {
  multiline: boolean;
  plain: boolean;
  single: boolean;
  literal: boolean;
}

function hasIndicator(text: string): boolean {
  if (STARTS_LIKE_MARKER.test(text)) return true;
  const first = text.charCodeAt(0);
  if (FIRST_INDICATORS.has(first)) return true;
  const blankAt = (index: number) => index >= text.length || isBlank(text.charCodeAt(index));
  if (FIRST_BEFORE_BLANK.has(first) && blankAt(1)) return true;
  for (let i = 1; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === COLON && blankAt(i + 1)) return true;
    if (code === HASH && isBlankOrEnd(text.charCodeAt(i - 1))) return true;
  }
  return false;
}

/** Which ways of writing keep the text. */
export function analyze(text: string): Analysis {
  let breaks = false;
  let tabs = false;
  let special = false;
  let spaceThenBreak = false;
  let breakThenSpace = false;
  let last = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code <= SPACE || code >= DELETE) {
      if (code === TAB) tabs = true;
      else if (!isPrintable(code)) special = true;
      if (isBreak(code)) {
        breaks = true;
        if (last === SPACE) spaceThenBreak = true;
      } else if (code === SPACE && isBreak(last)) {
        breakThenSpace = true;
      }
    }
    last = code;
  }
  const edgeSpace = text.startsWith(" ") || text.endsWith(" ");
  const single = !(breakThenSpace || spaceThenBreak || tabs || special);
  return {
    multiline: breaks,
    plain: single && !breaks && !edgeSpace && !hasIndicator(text),
    single,
    literal: !(text.endsWith(" ") || spaceThenBreak || special),
  };
}

/** Style of a string that is not read as something else; docs/schematics.md lists the cases. */
export function chooseStyle(text: string, analysis: Analysis): ScalarStyle {
  if (text.includes("\n")) return analysis.literal && NOT_WHITE_SPACE.test(text) ? "literal" : "double";
  if (OLD_BOOLEANS.has(text) || text === "<<" || SEXAGESIMAL.test(text)) return "single";
  if (resolveTag(text) !== "!!str") return "double";
  if (analysis.plain) return "plain";
  return analysis.single ? "single" : "double";
}
