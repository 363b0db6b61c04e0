/** Folding of line breaks inside plain and quoted scalars: one break becomes a space, further ones stay. */

export class LineFolder {
  text = "";
  private blanks = "";
  private firstBreak = "";
  private moreBreaks = "";
  /** True when a line break was read after the last character of content. */
  brokeLine = false;

  /** Adds content; what was read since the last content is folded in front of it. */
  add(content: string): void {
    if (this.brokeLine || this.blanks !== "") this.flush();
    this.text += content;
  }

  blank(character: string): void {
    if (!this.brokeLine) this.blanks += character;
  }

  lineBreak(character: string): void {
    if (this.brokeLine) {
      this.moreBreaks += character;
      return;
    }
    this.blanks = "";
    this.firstBreak = character;
    this.brokeLine = true;
  }

  /** A break that was escaped: it joins the lines without leaving anything. */
  escapedBreak(): void {
    this.flush();
    this.brokeLine = true;
  }

  /** Writes pending blanks or the folded form of pending breaks. */
  flush(): void {
    if (this.brokeLine) {
      const folded = this.moreBreaks === "" ? " " : this.moreBreaks;
      this.text += this.firstBreak === "\n" ? folded : this.firstBreak + this.moreBreaks;
    } else {
      this.text += this.blanks;
    }
    this.blanks = "";
    this.firstBreak = "";
    this.moreBreaks = "";
    this.brokeLine = false;
  }
}
