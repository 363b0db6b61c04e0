/** Reading position in a YAML text: looks ahead, advances, counts lines and columns. */
import type { AppError } from "../../errors/app-error.ts";
import { BOM, CR, isBreak, LF, startsColumn } from "./characters.ts";
import { type Construct, loadError, loadErrorWithin, type Mark } from "./failure.ts";

// YAML 1.1 c-printable, plus DEL and the C1 block; with the u flag a surrogate matches only when it stands alone.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that must be found
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udfff]/u;

export class Cursor {
  private readonly text: string;
  private readonly problem: AppError | null;
  /** Code units read so far. */
  position = 0;
  line = 1;
  column = 1;

  /** The text is cut at its first forbidden character; reaching that place is an error of the reader. */
  constructor(text: string) {
    const start = text.charCodeAt(0) === BOM ? 1 : 0;
    const found = FORBIDDEN.exec(text);
    this.text = text.slice(start, found?.index ?? text.length);
    this.problem = found === null ? null : forbidden(found[0].charCodeAt(0));
  }

  /** Code unit at the position plus offset, 0 past the end. */
  code(offset = 0): number {
    const at = this.position + offset;
    return at < this.text.length ? this.text.charCodeAt(at) : 0;
  }

  mark(): Mark {
    return { line: this.line, column: this.column };
  }

  /** Steps over one code unit that is not a line break. */
  skip(): void {
    this.position += 1;
    if (startsColumn(this.code())) this.column += 1;
  }

  /** Steps over one code unit and gives it as text. */
  take(): string {
    const character = this.text.charAt(this.position);
    this.skip();
    return character;
  }

  /** Steps over a run of code units that hold no line break and gives it as text. */
  takeWhile(accept: (code: number) => boolean): string {
    const from = this.position;
    let at = from;
    for (; at < this.text.length; at += 1) {
      const code = this.text.charCodeAt(at);
      if (!accept(code)) break;
      if (startsColumn(code)) this.column += 1;
    }
    this.position = at;
    return this.text.slice(from, at);
  }

  /** Steps over a line break and gives its normal form: LF, except for the Unicode separators. */
  takeBreak(): string {
    const code = this.code();
    if (!isBreak(code)) return "";
    this.position += code === CR && this.code(1) === LF ? 2 : 1;
    this.line += 1;
    this.column = 1;
    return code > 0xff ? String.fromCharCode(code) : "\n";
  }

  /** Throws when the end of the readable text is not the end of the text. */
  requireRealEnd(): void {
    if (this.problem !== null) throw this.problem;
  }

  /** Error of the scanner here, or of the reader when the forbidden character is what was met. */
  failure(problem: string, context?: Construct): AppError {
    if (this.problem !== null && this.position + 1 >= this.text.length) return this.problem;
    const mark = this.mark();
    return context ? loadErrorWithin("scanner", context, problem, mark) : loadError("scanner", problem, mark);
  }
}

function forbidden(code: number): AppError {
  const surrogate = code >= 0xd800 && code <= 0xdfff;
  const problem = surrogate ? "invalid Unicode character" : "control characters are not allowed";
  return loadError("reader", `${problem} (value: ${code})`, null);
}
