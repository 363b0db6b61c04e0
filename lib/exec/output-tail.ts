/** Keeps the last 64 KiB of a program's output and gives its lines one by one. */
import { StringDecoder } from "node:string_decoder";

const KEEP_CHARS = 64 * 1024;

/** What may be kept and given on of a line, null for nothing. */
export type Reword = (line: string) => string | null;

export class OutputTail {
  readonly #decoder = new StringDecoder("utf8");
  #kept = "";
  #line = "";

  constructor(
    readonly onLine: ((line: string) => void) | undefined,
    readonly reword?: Reword,
  ) {}

  /** The last 64 Ki characters of everything added. */
  get text(): string {
    return this.#kept.slice(-KEEP_CHARS);
  }

  add(chunk: Uint8Array): void {
    this.#take(this.#decoder.write(chunk));
  }

  /** Gives the unfinished last line, if there is one. */
  finish(): void {
    this.#take(this.#decoder.end());
    if (this.#line !== "") this.#give(this.#line);
    this.#line = "";
  }

  #take(text: string): void {
    if (text === "") return;
    if (!this.reword) this.#keep(text);
    if (!this.onLine && !this.reword) return;
    // A progress bar rewrites its line with a carriage return: each state counts as a line.
    const lines = (this.#line + text).split(/\r\n|\n|\r/);
    this.#line = (lines.pop() ?? "").slice(-KEEP_CHARS);
    for (const line of lines) if (line !== "") this.#give(line);
  }

  #give(line: string): void {
    const said = this.reword ? this.reword(line) : line;
    if (said === null) return;
    if (this.reword) this.#keep(`${said}\n`);
    this.onLine?.(said);
  }

  #keep(text: string): void {
    this.#kept += text;
    if (this.#kept.length > 2 * KEEP_CHARS) this.#kept = this.#kept.slice(-KEEP_CHARS);
  }
}
