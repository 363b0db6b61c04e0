/** Order of map keys in canonical text: numbers by value, then strings with digit runs read as numbers. */
import type { OptionValue } from "../schematic-types.ts";

const LETTER = /^\p{L}$/u;
const DIGIT = /^\p{Nd}$/u;
const ZERO = 0x30;
const MAX_SIGNED = 2n ** 63n - 1n;
/** Longer runs are compared by their characters. */
const MAX_FOREIGN_DIGITS = 256;
const ASCII_DIGITS = /^[0-9]*$/;

const isLetter = (code: number): boolean => LETTER.test(String.fromCodePoint(code));
const isDigit = (code: number): boolean =>
  code < 0x80 ? code >= ZERO && code <= 0x39 : DIGIT.test(String.fromCodePoint(code));

/** Kinds in ascending order; equal numbers of different kind follow it too. */
function rank(key: OptionValue): number {
  if (typeof key === "boolean") return 0;
  if (typeof key === "bigint") return key > MAX_SIGNED ? 2 : 1;
  if (typeof key === "number") return 3;
  if (key === null) return 4;
  return typeof key === "string" ? 5 : 6;
}

const LAST_NUMERIC_RANK = 3;

/** Length of the common beginning, never inside a surrogate pair. */
function commonLength(a: string, b: string): number {
  let i = 0;
  while (i < a.length && i < b.length && a.charCodeAt(i) === b.charCodeAt(i)) i += 1;
  const last = a.charCodeAt(i - 1);
  return i > 0 && last >= 0xd800 && last <= 0xdbff ? i - 1 : i;
}

const plain = (a: bigint | number | string, b: bigint | number | string): number =>
  a < b ? -1 : a > b ? 1 : 0;

/** The digits that begin at the place. */
function digitRun(text: string, from: number): string {
  let run = "";
  for (const character of text.slice(from)) {
    if (!isDigit(character.codePointAt(0) ?? 0)) break;
    run += character;
  }
  return run;
}

/** Digits without leading zeros. Digits of other scripts count by their distance from "0", as the known IDs have it. */
function normalRun(run: string, leadingOne: boolean): string {
  const digits = leadingOne ? `1${run}` : run;
  if (digits.length > MAX_FOREIGN_DIGITS || ASCII_DIGITS.test(digits)) return digits.replace(/^0+/, "");
  let value = 0n;
  for (const character of digits) value = value * 10n + BigInt((character.codePointAt(0) ?? 0) - ZERO);
  return String(value);
}

/** Order of two numbers in decimal digits without leading zeros, of any length. */
const compareRuns = (a: string, b: string): number => a.length - b.length || plain(a, b);

/** True when the digits that end the common beginning hold something other than zero. */
function endsInNumber(text: string): boolean {
  const characters = Array.from(text.slice(-256));
  for (let i = characters.length - 1; i >= 0; i -= 1) {
    const code = characters[i]?.codePointAt(0) ?? 0;
    if (!isDigit(code)) return false;
    if (code !== ZERO) return true;
  }
  return false;
}

function compareStrings(a: string, b: string): number {
  const at = commonLength(a, b);
  const codeA = a.codePointAt(at);
  const codeB = b.codePointAt(at);
  if (codeA === undefined || codeB === undefined) return a.length - b.length;
  const letterA = isLetter(codeA);
  const letterB = isLetter(codeB);
  if (letterA && letterB) return codeA - codeB;
  if (letterA || letterB) {
    const before = Array.from(a.slice(Math.max(0, at - 2), at))
      .at(-1)
      ?.codePointAt(0);
    const afterDigit = before !== undefined && isDigit(before);
    return letterA === afterDigit ? -1 : 1;
  }
  const runA = digitRun(a, at);
  const runB = digitRun(b, at);
  const leadingOne = (codeA === ZERO || codeB === ZERO) && endsInNumber(a.slice(0, at));
  const byValue = compareRuns(normalRun(runA, leadingOne), normalRun(runB, leadingOne));
  return byValue || runA.length - runB.length || codeA - codeB;
}

/** Negative when a comes first. Both are scalars; lists and maps are no keys. */
function compareKeys(a: OptionValue, b: OptionValue): number {
  if (typeof a === "string" && typeof b === "string") return compareStrings(a, b);
  const rankA = rank(a);
  const rankB = rank(b);
  if (rankA <= LAST_NUMERIC_RANK && rankB <= LAST_NUMERIC_RANK) {
    const byValue = plain(Number(a), Number(b));
    if (byValue !== 0 || rankA !== rankB) return byValue || rankA - rankB;
    return typeof a === "bigint" && typeof b === "bigint" ? plain(a, b) : 0;
  }
  if (rankA !== rankB) return rankA - rankB;
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

/**
 * Entries in canonical order. They are put in plain order first: the order by digit runs is no total order for every
 * set of keys, and the result must not depend on the order in which they were written.
 */
export function sortEntries(entries: Iterable<[OptionValue, OptionValue]>): [OptionValue, OptionValue][] {
  const plainOrder = [...entries].map((entry) => ({ entry, id: `${rank(entry[0])} ${String(entry[0])}` }));
  plainOrder.sort((a, b) => plain(a.id, b.id));
  return plainOrder.map(({ entry }) => entry).sort(([a], [b]) => compareKeys(a, b));
}
