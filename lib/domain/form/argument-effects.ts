/** What each typed kernel argument does to the command line it is added to. */
import { Cmdline } from "../cmdline.ts";

/**
 * adds: at the end; replaces: the defaults of its key; removes: defaults; removes-nothing: names no default;
 * already-there: a default says the same; repeated: the list itself has it before.
 */
export type ArgumentEffect =
  | "adds"
  | "replaces"
  | "removes"
  | "removes-nothing"
  | "already-there"
  | "repeated";

export interface ArgumentNote {
  argument: string;
  effect: ArgumentEffect;
  /** The defaults it takes away, as words of the command line. */
  defaults: string[];
}

/** Their values are replaced, not added to. */
const REPLACED = new Set(["console", "talos.platform"]);

const wordOf = (key: string, value: string): string => (value === "" ? key : `${key}=${value}`);

function cut(argument: string): { key: string; value: string } {
  const at = argument.indexOf("=");
  return at < 0
    ? { key: argument, value: "" }
    : { key: argument.slice(0, at), value: argument.slice(at + 1) };
}

function effectOn(defaults: Cmdline, argument: string): Omit<ArgumentNote, "argument"> {
  const { key, value } = cut(argument);
  const removing = key.length > 1 && key.startsWith("-");
  const name = removing ? key.slice(1) : key;
  const values = defaults.values(name);
  const touched = (removing && value !== "" ? values.filter((one) => one === value) : values).map((one) =>
    wordOf(name, one),
  );
  if (removing) return { effect: touched.length > 0 ? "removes" : "removes-nothing", defaults: touched };
  if (REPLACED.has(key) && values.length > 0) return { effect: "replaces", defaults: touched };
  return { effect: values.includes(value) ? "already-there" : "adds", defaults: [] };
}

/** One note per argument. `line` is the command line without any of them. */
export function argumentEffects(line: string, list: readonly string[]): ArgumentNote[] {
  const defaults = Cmdline.parse(line);
  return list.map((argument, index) =>
    list.indexOf(argument) < index
      ? { argument, effect: "repeated", defaults: [] }
      : { argument, ...effectOn(defaults, argument) },
  );
}
