/** Character classes of the YAML 1.1 grammar; a code of 0 stands for the end of the text, as NUL itself is refused. */

export const TAB = 0x09;
export const LF = 0x0a;
export const CR = 0x0d;
export const SPACE = 0x20;
export const BOM = 0xfeff;

const NEL = 0x85;
const LINE_SEPARATOR = 0x2028;
const PARAGRAPH_SEPARATOR = 0x2029;

/** Code unit of one ASCII character, for comparisons that stay readable. */
export const codeOf = (character: string): number => character.charCodeAt(0);

export const isBlank = (code: number): boolean => code === SPACE || code === TAB;

/** Line breaks of YAML 1.1: CR, LF, NEL and the two Unicode separators. */
export const isBreak = (code: number): boolean =>
  code === LF || code === CR || code === NEL || code === LINE_SEPARATOR || code === PARAGRAPH_SEPARATOR;

/** The common case, asked first because scanners ask for every character. */
const isVisibleAscii = (code: number): boolean => code > SPACE && code < NEL;

export const isBreakOrEnd = (code: number): boolean => !isVisibleAscii(code) && (code === 0 || isBreak(code));

export const isBlankOrEnd = (code: number): boolean =>
  !isVisibleAscii(code) && (isBlank(code) || isBreakOrEnd(code));

export const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** Digits, ASCII letters, "_" and "-": names of directives and tag handles. */
export const isWord = (code: number): boolean =>
  isDigit(code) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x61 && code <= 0x7a) ||
  code === 0x5f ||
  code === 0x2d;

const inSet = (characters: string) => {
  const codes = new Set([...characters].map(codeOf));
  return (code: number): boolean => codes.has(code);
};

/** Comma, brackets and braces. */
export const isFlowIndicator = inSet(",[]{}");

/** Characters that no plain scalar starts with (some of them may, when something other than a blank follows). */
export const isIndicator = inSet("-?:,[]{}#&*!|>'\"%@`");

/** What may follow the name of an anchor or alias besides blanks. */
export const endsAnchor = inSet("?:,]}%@`");

const isTagSign = inSet(";/?:@&=+$.!~*'()%");

/** Characters of a tag; verbatim tags and %TAG prefixes may hold flow indicators too. */
export const isTagCharacter = (code: number, verbatim: boolean): boolean =>
  isWord(code) || isTagSign(code) || (verbatim && isFlowIndicator(code));

/** Anchor names: visible ASCII without colon and flow indicators. */
export const isAnchorCharacter = (code: number): boolean =>
  code > SPACE && code <= 0x7e && code !== 0x3a && !isFlowIndicator(code);

/** Value of a hexadecimal digit, -1 for anything else. */
export function hexValue(code: number): number {
  if (isDigit(code)) return code - 0x30;
  if (code >= 0x41 && code <= 0x46) return code - 0x41 + 10;
  if (code >= 0x61 && code <= 0x66) return code - 0x61 + 10;
  return -1;
}

/** False for the second half of a surrogate pair, which counts as no column of its own. */
export const startsColumn = (code: number): boolean => code < 0xdc00 || code > 0xdfff;
