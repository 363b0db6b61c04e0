/** Reads WWW-Authenticate (RFC 9110 §11.6.1): several challenges in one line, quoted strings, odd spacing. */

export interface Challenge {
  /** Lower case: "bearer", "basic". */
  scheme: string;
  /** Names in lower case. */
  parameters: Record<string, string>;
}

const TOKEN = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y;
const TOKEN68 = /[A-Za-z0-9\-._~+/]+=*/y;
const QUOTED = /"((?:[^"\\]|\\.)*)"/y;
const SEPARATOR = /[\s,]*/y;
const EQUALS = /\s*=\s*/y;

/** All challenges in order; what cannot be read ends the list, nothing is thrown. */
export function parseChallenges(header: string): Challenge[] {
  const challenges: Challenge[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(header);
    if (match) at = pattern.lastIndex;
    return match;
  };
  const value = (): string | undefined => {
    const quoted = take(QUOTED);
    return quoted ? quoted[1]?.replace(/\\(.)/g, "$1") : take(TOKEN68)?.[0];
  };
  let current: Challenge | undefined;
  for (;;) {
    take(SEPARATOR);
    const name = take(TOKEN)?.[0].toLowerCase();
    if (name === undefined) return challenges;
    if (current && take(EQUALS)) {
      const text = value();
      if (text === undefined) return challenges;
      current.parameters[name] = text;
    } else {
      current = { scheme: name, parameters: {} };
      challenges.push(current);
    }
  }
}
