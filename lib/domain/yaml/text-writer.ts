/** Collects emitted text and knows at which column it stands, which decides where new lines begin. */
import { AppError } from "../../errors/app-error.ts";
import { MAX_CANONICAL_CHARACTERS } from "./limits.ts";

export class TextWriter {
  private readonly parts: string[] = [];
  private length = 0;
  private column = 0;
  /** True when the last thing written separates what follows. */
  private spaced = true;
  /** True while the line holds nothing but indentation and signs such as "- ". */
  private atContentStart = true;

  /** Texts without quotes or in single ones go on in the next line at the first single space beyond this column. */
  constructor(private readonly foldAt = Number.POSITIVE_INFINITY) {}

  private put(text: string): void {
    this.length += text.length;
    if (this.length > MAX_CANONICAL_CHARACTERS) {
      throw new AppError("too_large", "the canonical text of the schematic is larger than 8 MiB", {
        retryable: false,
        hint: "Nest the overlay options less deeply or shorten them.",
      });
    }
    this.parts.push(text);
    this.column += text.length;
  }

  /** Begins a line at the column, unless the place where writing stands will do. */
  indent(column: number): void {
    const stays = this.atContentStart && (this.column < column || (this.column === column && this.spaced));
    if (!stays) this.lineBreak("\n");
    if (this.column < column) this.put(" ".repeat(column - this.column));
    this.spaced = true;
  }

  /** Writes a break; the Unicode separators count as breaks too. */
  lineBreak(character: string): void {
    this.put(character);
    this.column = 0;
    this.atContentStart = true;
  }

  /** Writes "-", "?" or an explicit ":" in front of a node. */
  sign(text: string): void {
    this.separate();
    this.put(text);
    this.spaced = false;
  }

  /** Writes the ":" right after a key. */
  colon(): void {
    this.content(":");
  }

  /** Writes a space when the last thing written does not separate. */
  separate(): void {
    if (!this.spaced) this.put(" ");
  }

  /** Writes content without separating it. */
  content(text: string): void {
    this.put(text);
    this.spaced = false;
    this.atContentStart = false;
  }

  /** Writes content whose lines may be folded; those after the first begin at `column`. */
  foldable(text: string, column: number): void {
    let from = 0;
    for (let at = text.indexOf(" ", 1); at > 0; at = text.indexOf(" ", at + 1)) {
      const single = text[at - 1] !== " " && text[at + 1] !== " " && at + 1 < text.length;
      if (!single || this.column + at - from <= this.foldAt) continue;
      this.content(text.slice(from, at));
      this.indent(column);
      from = at + 1;
    }
    this.content(text.slice(from));
  }

  /** Writes part of a line of a literal block, after which any node may follow at the same column. */
  literalRun(text: string): void {
    this.put(text);
    this.atContentStart = false;
  }

  /** Writes the break after the header of a literal block. */
  literalStart(): void {
    this.lineBreak("\n");
    this.spaced = true;
  }

  /** Everything written, closed by a line break. */
  finish(): string {
    if (this.column > 0) this.lineBreak("\n");
    return this.parts.join("");
  }
}
