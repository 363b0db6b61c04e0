/** Keeps an embedded machine configuration out of what an imager image says: some print the profile they were given. */

/** Shorter lines ("---", "a:") tell nothing, and would hide too much. */
const SHORTEST_LINE = 4;
/** The same for a value without its name, and for a line of the program that is a piece of the configuration. */
const SHORTEST_PIECE = 8;
const HIDDEN = "(hidden: it holds a part of the machine configuration)";
const HIDDEN_PROFILE = "(hidden: the profile, which holds the machine configuration)";

/** "[3/12] ", which counts steps and may always be seen. */
const COUNTER = /^\[\d+\/\d+\] /;
const PROFILE_BEGINS = /profile ready|embeddedMachineConfiguration/i;
/** A name with a colon, an entry of a list, or what belongs to one of them. */
const LOOKS_LIKE_YAML = /^(?:\s|[A-Za-z][\w-]*:(?:\s|$)|- |---|\.\.\.)/;

const inkOf = (text: string): number => text.replace(/\s/g, "").length;
/** As JSON and double-quoted YAML write it. */
const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);
const bare = (text: string): string => text.replace(/^["']|["',]+$/g, "");

/** `token: "abc"` and `- token: abc` without what is no secret. */
const valueIn = (line: string): string => bare(line.replace(/^(?:- +)*(?:[\w./"'-]+: +)?/, ""));

function secretPieces(configuration: string): string[] {
  const lines = configuration.split(/\r\n|\n|\r/).map((line) => line.trim());
  const whole = lines.filter((line) => inkOf(line) >= SHORTEST_LINE);
  const values = lines.map(valueIn).filter((value) => inkOf(value) >= SHORTEST_PIECE);
  return [...new Set([...whole, ...values].flatMap((piece) => [piece, escaped(piece)]))];
}

/**
 * What may be shown of each line of the program, null for a line that is left out. Hidden are lines that hold a line or
 * value of the configuration, lines that are a piece of it (wrapped, or in base64), and whatever looks like the profile.
 */
export function hideConfiguration(configuration: string): (line: string) => string | null {
  const pieces = secretPieces(configuration);
  const texts = [configuration, escaped(configuration), Buffer.from(configuration).toString("base64")];
  const isSecret = (line: string): boolean => {
    const text = bare(line.trim());
    return (
      pieces.some((piece) => line.includes(piece)) ||
      (inkOf(text) >= SHORTEST_PIECE && texts.some((secret) => secret.includes(text)))
    );
  };
  let inProfile = false;
  return (line) => {
    if (PROFILE_BEGINS.test(line)) {
      const first = !inProfile;
      inProfile = true;
      return first ? HIDDEN_PROFILE : null;
    }
    inProfile &&= LOOKS_LIKE_YAML.test(line);
    if (inProfile) return null;
    const counter = COUNTER.exec(line)?.[0] ?? "";
    return isSecret(line.slice(counter.length)) ? counter + HIDDEN : line;
  };
}
