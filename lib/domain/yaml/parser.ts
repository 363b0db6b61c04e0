/** Reads the first document of a YAML text into nodes: recursive descent over the tokens, anchors bound on the way. */
import { loadError, loadErrorWithin, type Mark } from "./failure.ts";
import { MAX_DEPTH } from "./limits.ts";
import type { MappingNode, SequenceNode, YamlNode } from "./nodes.ts";
import { shortTag } from "./nodes.ts";
import { resolveTag } from "./resolve.ts";
import { Scanner } from "./scanner.ts";
import { TagDirectives } from "./tag-directives.ts";
import type { Token, TokenType } from "./tokens.ts";

interface Properties {
  anchor: string | null;
  tag: string;
  start: Mark;
  /** True when an anchor or a tag was written. */
  any: boolean;
}

type Place = "block" | "block-indentless" | "flow";

class Parser {
  private readonly scanner: Scanner;
  private readonly directives = new TagDirectives();
  private readonly anchors = new Map<string, YamlNode>();
  private depth = 0;

  constructor(text: string) {
    this.scanner = new Scanner(text);
  }

  /** Root node, or null when the text holds no document. */
  document(): YamlNode | null {
    while (this.at("document-end")) this.scanner.skip();
    if (this.at("stream-end")) return null;
    let root: YamlNode;
    if (this.at("version-directive", "tag-directive", "document-start")) {
      this.directives.read(this.scanner);
      const token = this.peek();
      if (token.type !== "document-start") {
        throw loadError("parser", "did not find expected <document start>", token.start);
      }
      this.scanner.skip();
      const empty = this.at(
        "version-directive",
        "tag-directive",
        "document-start",
        "document-end",
        "stream-end",
      );
      root = empty ? this.emptyScalar(this.peek().start) : this.node("block");
    } else {
      root = this.node("block");
    }
    this.peek();
    return root;
  }

  private peek(): Token {
    return this.scanner.peek();
  }

  private at(...types: TokenType[]): boolean {
    return types.includes(this.peek().type);
  }

  /** Steps over the token when it is of the type. */
  private accept(type: TokenType): Token | null {
    const token = this.peek();
    if (token.type !== type) return null;
    this.scanner.skip();
    return token;
  }

  private node(place: Place): YamlNode {
    const alias = this.accept("alias");
    if (alias !== null) return this.alias(alias);
    const properties = this.properties();
    const token = this.peek();
    if (token.type === "scalar") return this.scalar(token, properties);
    this.depth += 1;
    if (this.depth > MAX_DEPTH) throw loadError("parser", `exceeded max depth of ${MAX_DEPTH}`, token.start);
    const collection = this.collection(place, token, properties);
    this.depth -= 1;
    if (collection !== null) return collection;
    if (properties.any) return this.bind(this.emptyScalar(properties.start, properties.tag), properties);
    const doing = place === "flow" ? "while parsing a flow node" : "while parsing a block node";
    const context = { doing, from: properties.start };
    throw loadErrorWithin("parser", context, "did not find expected node content", token.start);
  }

  private collection(place: Place, token: Token, properties: Properties): YamlNode | null {
    if (place === "block-indentless" && token.type === "block-entry") return this.indentless(properties);
    if (token.type === "flow-sequence-start") return this.flowSequence(properties);
    if (token.type === "flow-mapping-start") return this.flowMapping(properties);
    if (place === "flow") return null;
    if (token.type === "block-sequence-start") return this.blockSequence(properties);
    if (token.type === "block-mapping-start") return this.blockMapping(properties);
    return null;
  }

  private alias(token: Token): YamlNode {
    const target = this.anchors.get(token.text);
    if (target === undefined) {
      throw loadError("composer", `unknown anchor '${token.text}' referenced`, token.start);
    }
    return { kind: "alias", tag: "", mark: token.start, name: token.text, target };
  }

  /** Anchor and tag in either order. */
  private properties(): Properties {
    const start = this.peek().start;
    let anchor = this.accept("anchor");
    const tag = this.accept("tag");
    anchor ??= tag === null ? null : this.accept("anchor");
    return {
      anchor: anchor?.text ?? null,
      tag: tag === null ? "" : this.directives.resolve(tag, start),
      start,
      any: anchor !== null || tag !== null,
    };
  }

  private bind<T extends YamlNode>(node: T, properties: Properties): T {
    if (properties.anchor !== null) this.anchors.set(properties.anchor, node);
    return node;
  }

  private emptyScalar(mark: Mark, tag = ""): YamlNode {
    return {
      kind: "scalar",
      tag: tag === "" ? resolveTag("") : shortTag(tag),
      mark,
      text: "",
      quoted: false,
    };
  }

  private scalar(token: Token, properties: Properties): YamlNode {
    this.scanner.skip();
    const { text, quoted } = token;
    const untagged = quoted ? "!!str" : resolveTag(text);
    const tag = properties.tag === "" ? untagged : shortTag(properties.tag);
    return this.bind({ kind: "scalar", tag, mark: properties.start, text, quoted }, properties);
  }

  private newSequence(properties: Properties): SequenceNode {
    const tag = properties.tag === "" ? "!!seq" : shortTag(properties.tag);
    return this.bind({ kind: "sequence", tag, mark: properties.start, items: [] }, properties);
  }

  private newMapping(properties: Properties): MappingNode {
    const tag = properties.tag === "" ? "!!map" : shortTag(properties.tag);
    return this.bind({ kind: "mapping", tag, mark: properties.start, pairs: [] }, properties);
  }

  private blockSequence(properties: Properties): SequenceNode {
    const sequence = this.newSequence(properties);
    const from = this.peek().start;
    this.scanner.skip();
    for (;;) {
      const entry = this.accept("block-entry");
      if (entry === null) break;
      const empty = this.at("block-entry", "block-end");
      sequence.items.push(empty ? this.emptyScalar(entry.end) : this.node("block"));
    }
    if (this.accept("block-end") !== null) return sequence;
    const context = { doing: "while parsing a block collection", from };
    throw loadErrorWithin("parser", context, "did not find expected '-' indicator", this.peek().start);
  }

  /** A sequence at the indentation of its key. */
  private indentless(properties: Properties): SequenceNode {
    const sequence = this.newSequence(properties);
    for (;;) {
      const entry = this.accept("block-entry");
      if (entry === null) return sequence;
      const empty = this.at("block-entry", "key", "value", "block-end");
      sequence.items.push(empty ? this.emptyScalar(entry.end) : this.node("block"));
    }
  }

  private blockMapping(properties: Properties): MappingNode {
    const mapping = this.newMapping(properties);
    const from = this.peek().start;
    this.scanner.skip();
    for (;;) {
      const sign = this.accept("key");
      if (sign === null) break;
      const key = this.blockMember(sign.end);
      const colon = this.accept("value");
      const value = colon === null ? this.emptyScalar(this.peek().start) : this.blockMember(colon.end);
      mapping.pairs.push([key, value]);
    }
    if (this.accept("block-end") !== null) return mapping;
    const context = { doing: "while parsing a block mapping", from };
    throw loadErrorWithin("parser", context, "did not find expected key", this.peek().start);
  }

  private blockMember(mark: Mark): YamlNode {
    return this.at("key", "value", "block-end") ? this.emptyScalar(mark) : this.node("block-indentless");
  }

  private flowSequence(properties: Properties): SequenceNode {
    const sequence = this.newSequence(properties);
    const from = this.peek().start;
    this.scanner.skip();
    for (let first = true; !this.at("flow-sequence-end"); first = false) {
      if (!first) {
        this.requireComma("while parsing a flow sequence", from, "did not find expected ',' or ']'");
      }
      const sign = this.accept("key");
      if (sign !== null) sequence.items.push(this.flowPair(sign));
      else if (!this.at("flow-sequence-end")) sequence.items.push(this.node("flow"));
    }
    this.scanner.skip();
    return sequence;
  }

  private requireComma(doing: string, from: Mark, problem: string): void {
    if (this.accept("flow-entry") !== null) return;
    throw loadErrorWithin("parser", { doing, from }, problem, this.peek().start);
  }

  /** A map of one pair written inside a list: [a: b]. */
  private flowPair(sign: Token): MappingNode {
    const mapping = this.newMapping({ anchor: null, tag: "", start: sign.start, any: false });
    let key: YamlNode;
    if (this.at("value", "flow-entry", "flow-sequence-end")) {
      key = this.emptyScalar(this.peek().end);
      this.scanner.skip();
    } else {
      key = this.node("flow");
    }
    mapping.pairs.push([key, this.flowValue("flow-sequence-end")]);
    return mapping;
  }

  private flowMapping(properties: Properties): MappingNode {
    const mapping = this.newMapping(properties);
    const from = this.peek().start;
    this.scanner.skip();
    for (let first = true; !this.at("flow-mapping-end"); first = false) {
      if (!first) {
        this.requireComma("while parsing a flow mapping", from, "did not find expected ',' or '}'");
      }
      if (this.accept("key") !== null) {
        const empty = this.at("value", "flow-entry", "flow-mapping-end");
        const key = empty ? this.emptyScalar(this.peek().start) : this.node("flow");
        mapping.pairs.push([key, this.flowValue("flow-mapping-end")]);
      } else if (!this.at("flow-mapping-end")) {
        const key = this.node("flow");
        mapping.pairs.push([key, this.emptyScalar(this.peek().start)]);
      }
    }
    this.scanner.skip();
    return mapping;
  }

  private flowValue(end: TokenType): YamlNode {
    const mark = this.peek().start;
    if (this.accept("value") === null || this.at("flow-entry", end)) return this.emptyScalar(mark);
    return this.node("flow");
  }
}

/**
 * Root node of the first document, or null when there is none. What follows the document is not read.
 * Errors: invalid_input with stage, position and problem.
 */
export const parseDocument = (text: string): YamlNode | null => new Parser(text).document();
