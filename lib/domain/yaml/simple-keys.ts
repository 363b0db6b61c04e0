/** Bookkeeping of places where a key without "?" may have begun; known only when a ":" follows later. */
import type { Cursor } from "./cursor.ts";
import type { Mark } from "./failure.ts";

interface SimpleKey {
  flowLevel: number;
  /** In block context at the indentation of the map nothing but a key can stand here. */
  required: boolean;
  /** Running number of the token that the key would start with. */
  tokenNumber: number;
  mark: Mark;
}

export class SimpleKeys {
  /** True when the next token may be a key. */
  allowed = true;
  private current: SimpleKey | null = null;
  private possible = false;
  private readonly outer: SimpleKey[] = [];

  /** Number of the earliest token that may still turn out to be a key. */
  firstCandidate(): number | null {
    const key = this.outer[0] ?? (this.possible ? this.current : null);
    return key?.tokenNumber ?? null;
  }

  /** Notes that a key may begin at the cursor. */
  save(cursor: Cursor, place: { flowLevel: number; indent: number; tokenNumber: number }): void {
    if (!this.allowed) return;
    this.remove(cursor);
    const required = place.flowLevel === 0 && place.indent === cursor.column;
    const { flowLevel, tokenNumber } = place;
    this.current = { flowLevel, required, tokenNumber, mark: cursor.mark() };
    this.possible = true;
  }

  /** Gives up the candidate of this level; an error where a key had to come. */
  remove(cursor: Cursor): void {
    if (this.current?.required) {
      const context = { doing: "while scanning a simple key", from: this.current.mark };
      throw cursor.failure("could not find expected ':'", context);
    }
    this.possible = false;
  }

  /** The candidate that a ":" at this line completes, or null. */
  complete(line: number): SimpleKey | null {
    const key = this.current;
    if (!this.possible || key === null || key.mark.line !== line) return null;
    this.possible = false;
    this.current = { ...key, required: false };
    return key;
  }

  enterFlow(): void {
    if (this.possible && this.current !== null) this.outer.push(this.current);
    this.current = null;
  }

  /** `flowLevel` is the level after leaving. */
  leaveFlow(flowLevel: number): void {
    const last = this.outer.at(-1);
    if (last?.flowLevel !== flowLevel) return;
    this.outer.pop();
    this.current = last;
    this.possible = true;
  }

  /** Forgets everything at the end of the stream. */
  clear(): void {
    this.current = null;
    this.outer.length = 0;
    this.possible = false;
    this.allowed = false;
  }
}
