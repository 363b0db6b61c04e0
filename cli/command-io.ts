/** A command's connection to its surroundings, so that tests can stand in for a terminal. */
import type { Writable } from "node:stream";

export interface CommandIo {
  out: Writable;
  /** One line for the person. */
  tell: (line: string) => void;
  /** All of standard input as text. */
  readInput: () => Promise<string>;
  signal: AbortSignal;
}
