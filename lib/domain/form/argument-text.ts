/** Kernel arguments as one line of text: separated by white space, single quotes around one that holds spaces. */

/** Next argument: quoted text, in which two quotes stand for one, or anything up to white space. */
const ARGUMENT = /'((?:[^']|'')*)'(?=\s|$)|\S+/g;
const NEEDS_QUOTES = /^$|\s|^'/;

/** The arguments of a typed line, in order, repeats kept. A quote that is never closed is an ordinary character. */
export function splitArguments(line: string): string[] {
  return [...line.matchAll(ARGUMENT)].map(([word, quoted]) =>
    quoted === undefined ? word : quoted.replaceAll("''", "'"),
  );
}

/** The line that splitArguments turns back into these arguments. */
export const joinArguments = (words: readonly string[]): string =>
  words.map((word) => (NEEDS_QUOTES.test(word) ? `'${word.replaceAll("'", "''")}'` : word)).join(" ");
