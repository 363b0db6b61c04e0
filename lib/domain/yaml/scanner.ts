/** Turns a YAML text into tokens; indentation becomes block-start and block-end tokens. YAML 1.1 chapters 5 to 9. */
import {
  BOM,
  codeOf,
  isBlank,
  isBlankOrEnd,
  isBreak,
  isBreakOrEnd,
  isIndicator,
  SPACE,
  TAB,
} from "./characters.ts";
import { Cursor } from "./cursor.ts";
import type { Mark } from "./failure.ts";
import { MAX_DEPTH, MAX_TOKENS } from "./limits.ts";
import { scanBlock } from "./scan-block.ts";
import { atDocumentIndicator, scanPlain } from "./scan-plain.ts";
import { scanAnchor, scanDirective, scanTag } from "./scan-properties.ts";
import { scanQuoted } from "./scan-quoted.ts";
import { SimpleKeys } from "./simple-keys.ts";
import { signToken, type Token, type TokenType } from "./tokens.ts";

/** Tokens kept in reserve before one is handed out; decides how far past the first document is looked. */
const RESERVE = 3;

const DASH = codeOf("-");
const COLON = codeOf(":");
const QUESTION = codeOf("?");

export class Scanner {
  private readonly cursor: Cursor;
  private readonly keys = new SimpleKeys();
  private queue: Token[] = [];
  private head = 0;
  private taken = 0;
  private indent = -1;
  private readonly indents: number[] = [];
  private flowLevel = 0;

  constructor(text: string) {
    this.cursor = new Cursor(text);
  }

  /** The next token, which stays in place. */
  peek(): Token {
    while (this.queue.length - this.head < RESERVE || this.keys.firstCandidate() === this.taken) {
      this.fetch();
    }
    const token = this.queue[this.head];
    if (token === undefined) throw this.cursor.failure("no token was found");
    return token;
  }

  /** Steps over the token that peek gave. */
  skip(): void {
    this.head += 1;
    this.taken += 1;
    if (this.head > 1000) {
      this.queue = this.queue.slice(this.head);
      this.head = 0;
    }
  }

  private fetch(): void {
    const { cursor } = this;
    const before = cursor.mark();
    if (this.taken + this.queue.length - this.head > MAX_TOKENS) {
      throw cursor.failure(`exceeded max of ${MAX_TOKENS} tokens`);
    }
    this.skipToToken();
    this.unroll(cursor.column, before);
    const code = cursor.code();
    if (code === 0) this.fetchStreamEnd();
    else if (cursor.column === 1 && code === codeOf("%")) this.fetchDirective();
    else if (atDocumentIndicator(cursor)) this.fetchDocumentIndicator(code);
    else if (!this.fetchSign(code) && !this.fetchContent(code)) {
      const context = { doing: "while scanning for the next token", from: cursor.mark() };
      throw cursor.failure("found character that cannot start any token", context);
    }
  }

  private skipToToken(): void {
    const { cursor, keys } = this;
    if (cursor.position === 0 && cursor.code() === BOM) cursor.skip();
    for (;;) {
      while (cursor.code() === SPACE || (cursor.code() === TAB && (this.flowLevel > 0 || !keys.allowed))) {
        cursor.skip();
      }
      if (cursor.code() === codeOf("#")) cursor.takeWhile((code) => !isBreakOrEnd(code));
      if (!isBreak(cursor.code())) return;
      cursor.takeBreak();
      if (this.flowLevel === 0) keys.allowed = true;
    }
  }

  /** Structure: brackets, commas, dashes, question marks and colons. */
  private fetchSign(code: number): boolean {
    const blankFollows = isBlankOrEnd(this.cursor.code(1));
    if (code === codeOf("[")) this.fetchFlowStart("flow-sequence-start");
    else if (code === codeOf("{")) this.fetchFlowStart("flow-mapping-start");
    else if (code === codeOf("]")) this.fetchFlowEnd("flow-sequence-end");
    else if (code === codeOf("}")) this.fetchFlowEnd("flow-mapping-end");
    else if (code === codeOf(",")) this.fetchFlowEntry();
    else if (code === DASH && blankFollows) this.fetchBlockEntry();
    else if (code === QUESTION && blankFollows) this.fetchKey();
    else if (code === COLON && (blankFollows || (this.flowLevel > 0 && !this.startsFlowItem())))
      this.fetchValue();
    else return false;
    return true;
  }

  /** Nodes: aliases, properties and scalars, all of which may begin a key. */
  private fetchContent(code: number): boolean {
    const { cursor } = this;
    const block = this.flowLevel === 0;
    if (code === codeOf("*")) this.fetchNode(() => scanAnchor(cursor, "alias"));
    else if (code === codeOf("&")) this.fetchNode(() => scanAnchor(cursor, "anchor"));
    else if (code === codeOf("!")) this.fetchNode(() => scanTag(cursor));
    else if (block && (code === codeOf("|") || code === codeOf(">"))) this.fetchBlockScalar();
    else if (code === codeOf("'") || code === codeOf('"')) this.fetchNode(() => scanQuoted(cursor));
    else if (this.startsPlain(code)) this.fetchPlain();
    else return false;
    return true;
  }

  private startsPlain(code: number): boolean {
    const next = this.cursor.code(1);
    if (!isIndicator(code) && !isBlankOrEnd(code)) return true;
    if (code === DASH) return !isBlank(next);
    return (code === QUESTION || code === COLON) && !isBlankOrEnd(next);
  }

  /** Right after "[" or "," a colon belongs to a plain scalar, not to an empty key. */
  private startsFlowItem(): boolean {
    const last = this.queue.at(-1)?.type;
    return last === "flow-entry" || last === "flow-sequence-start";
  }

  private saveKey(): void {
    const tokenNumber = this.taken + this.queue.length - this.head;
    this.keys.save(this.cursor, { flowLevel: this.flowLevel, indent: this.indent, tokenNumber });
  }

  private pushSign(type: TokenType, width = 1): void {
    const start = this.cursor.mark();
    for (let i = 0; i < width; i += 1) this.cursor.skip();
    this.queue.push(signToken(type, start, this.cursor.mark()));
  }

  /** Opens a block collection when the column is deeper than the current one. */
  private roll(column: number, type: TokenType, mark: Mark, tokenNumber?: number): void {
    if (this.flowLevel > 0 || this.indent >= column) return;
    this.indents.push(this.indent);
    this.indent = column;
    this.checkDepth(this.indents.length, "while increasing indent level", mark);
    this.insert(signToken(type, mark, mark), tokenNumber);
  }

  private insert(token: Token, tokenNumber?: number): void {
    if (tokenNumber === undefined) this.queue.push(token);
    else this.queue.splice(this.head + tokenNumber - this.taken, 0, token);
  }

  /** Closes block collections that are deeper than the column. */
  private unroll(column: number, mark: Mark): void {
    if (this.flowLevel > 0) return;
    while (this.indent > column) {
      this.queue.push(signToken("block-end", mark, mark));
      this.indent = this.indents.pop() ?? -1;
    }
  }

  private checkDepth(depth: number, doing: string, from: Mark): void {
    if (depth > MAX_DEPTH) {
      throw this.cursor.failure(`exceeded max depth of ${MAX_DEPTH}`, { doing, from });
    }
  }

  private fetchStreamEnd(): void {
    const { cursor } = this;
    cursor.requireRealEnd();
    if (cursor.column !== 1) {
      cursor.column = 1;
      cursor.line += 1;
    }
    this.unroll(-1, cursor.mark());
    this.keys.remove(cursor);
    this.keys.clear();
    this.queue.push(signToken("stream-end", cursor.mark(), cursor.mark()));
  }

  private fetchDirective(): void {
    this.unroll(-1, this.cursor.mark());
    this.keys.remove(this.cursor);
    this.keys.allowed = false;
    this.queue.push(scanDirective(this.cursor));
  }

  private fetchDocumentIndicator(code: number): void {
    this.unroll(-1, this.cursor.mark());
    this.keys.remove(this.cursor);
    this.keys.allowed = false;
    this.pushSign(code === DASH ? "document-start" : "document-end", 3);
  }

  private fetchFlowStart(type: TokenType): void {
    this.saveKey();
    this.flowLevel += 1;
    this.checkDepth(this.flowLevel, "while increasing flow level", this.cursor.mark());
    this.keys.enterFlow();
    this.keys.allowed = true;
    this.pushSign(type);
  }

  private fetchFlowEnd(type: TokenType): void {
    this.keys.remove(this.cursor);
    if (this.flowLevel > 0) {
      this.flowLevel -= 1;
      this.keys.leaveFlow(this.flowLevel);
    }
    this.keys.allowed = false;
    this.pushSign(type);
  }

  private fetchFlowEntry(): void {
    this.keys.remove(this.cursor);
    this.keys.allowed = true;
    this.pushSign("flow-entry");
  }

  private fetchBlockEntry(): void {
    const { cursor, keys } = this;
    if (this.flowLevel === 0) {
      if (!keys.allowed) {
        throw cursor.failure("block sequence entries are not allowed in this context");
      }
      this.roll(cursor.column, "block-sequence-start", cursor.mark());
    }
    keys.remove(cursor);
    keys.allowed = true;
    this.pushSign("block-entry");
  }

  private fetchKey(): void {
    const { cursor, keys } = this;
    if (this.flowLevel === 0) {
      if (!keys.allowed) throw cursor.failure("mapping keys are not allowed in this context");
      this.roll(cursor.column, "block-mapping-start", cursor.mark());
    }
    keys.remove(cursor);
    keys.allowed = this.flowLevel === 0;
    this.pushSign("key");
  }

  private fetchValue(): void {
    const { cursor, keys } = this;
    const key = keys.complete(cursor.line);
    if (key !== null) {
      this.insert(signToken("key", key.mark, key.mark), key.tokenNumber);
      this.roll(key.mark.column, "block-mapping-start", key.mark, key.tokenNumber);
      keys.allowed = false;
    } else {
      if (this.flowLevel === 0) {
        if (!keys.allowed) throw cursor.failure("mapping values are not allowed in this context");
        this.roll(cursor.column, "block-mapping-start", cursor.mark());
      }
      keys.allowed = this.flowLevel === 0;
    }
    this.pushSign("value");
  }

  private fetchNode(scan: () => Token): void {
    this.saveKey();
    this.keys.allowed = false;
    this.queue.push(scan());
  }

  private fetchBlockScalar(): void {
    this.keys.remove(this.cursor);
    this.keys.allowed = true;
    this.queue.push(scanBlock(this.cursor, this.indent));
  }

  private fetchPlain(): void {
    this.saveKey();
    this.keys.allowed = false;
    const options = { indent: this.indent, inFlow: this.flowLevel > 0 };
    const { token, brokeLine } = scanPlain(this.cursor, options);
    this.queue.push(token);
    if (brokeLine) this.keys.allowed = true;
  }
}
