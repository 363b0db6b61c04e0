/** Gives nodes a type: collects type errors in document order, follows aliases within limits, applies merge keys. */

import { cutText, quoteText } from "../quote.ts";
import type { OptionValue } from "../schematic-types.ts";
import { boundedProblem, loadError, type Mark } from "./failure.ts";
import {
  CUT_KEY_CHARACTERS,
  MAX_ALIASED_CHARACTERS,
  MAX_ALIASED_NODES,
  MAX_EXPANDED_DEPTH,
  MAX_KEY_CHARACTERS,
  MAX_REPORTED_BYTES,
  MAX_REPORTED_ERRORS,
} from "./limits.ts";
import type { AliasNode, MappingNode, ScalarNode, SequenceNode, YamlNode } from "./nodes.ts";
import { isMergeKey, isWrittenAsString } from "./nodes.ts";
import { type Resolved, resolveTagged } from "./resolve.ts";

type ContentNode = ScalarNode | SequenceNode | MappingNode;

/** Takes a node as one type; false when nothing was taken, which is silent for null. */
export type Reader = (node: ContentNode) => boolean;

const SHOWN_VALUE_BYTES = 10;
const CUT_VALUE_BYTES = 7;

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Longer values are cut to their first bytes. */
function shownValue(text: string): string {
  const bytes = new TextEncoder().encode(text.slice(0, SHOWN_VALUE_BYTES + 1));
  if (bytes.length <= SHOWN_VALUE_BYTES) return text;
  return `${new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, CUT_VALUE_BYTES))}...`;
}

/** A key in quotes, cut after quoting: what does not print takes up to ten characters. */
function shownKey(key: string): string {
  const quoted = quoteText(key.slice(0, MAX_KEY_CHARACTERS));
  const isWhole = key.length <= MAX_KEY_CHARACTERS && quoted.length <= MAX_KEY_CHARACTERS;
  return isWhole ? quoted : `${cutText(quoted, CUT_KEY_CHARACTERS)}"`;
}

export class Construction {
  readonly errors: string[] = [];
  private errorBytes = 0;
  private readonly openAliases = new Set<AliasNode>();
  private depth = 0;
  private aliasDepth = 0;
  private aliasedNodes = 0;
  private aliasedCharacters = 0;
  /** Keys that a merge must not overwrite; null outside of merges. */
  private mergedKeys: Set<string> | null = null;

  /** Follows an alias and hands the content to the reader. */
  construct(node: YamlNode, read: Reader): boolean {
    if (this.aliasDepth > 0) this.countAliased(node);
    this.depth += 1;
    if (this.depth > MAX_EXPANDED_DEPTH) {
      throw loadError("constructor", `exceeded max depth of ${MAX_EXPANDED_DEPTH}`, node.mark);
    }
    const good = node.kind === "alias" ? this.followAlias(node, read) : read(node);
    this.depth -= 1;
    return good;
  }

  private followAlias(node: AliasNode, read: Reader): boolean {
    if (this.openAliases.has(node)) {
      throw loadError("composer", `anchor '${node.name}' value contains itself`, node.mark);
    }
    this.openAliases.add(node);
    this.aliasDepth += 1;
    const good = this.construct(node.target, read);
    this.aliasDepth -= 1;
    this.openAliases.delete(node);
    return good;
  }

  /** Notes a problem; nothing once there are too many. */
  addError(mark: Mark, problem: string): void {
    if (this.saidEnough()) return;
    const error = `line ${mark.line}: ${boundedProblem(problem)}`;
    this.errors.push(error);
    this.errorBytes += new TextEncoder().encode(error).length;
  }

  private saidEnough(): boolean {
    return this.errors.length >= MAX_REPORTED_ERRORS || this.errorBytes >= MAX_REPORTED_BYTES;
  }

  /** Notes that the node does not fit the type. Gives false. */
  mismatch(node: ContentNode, resolvedTag: string, typeName: string): false {
    const tag = node.tag === "" ? resolvedTag : node.tag;
    const text = node.kind === "scalar" ? node.text : "";
    const value = tag === "!!seq" || tag === "!!map" ? text : ` \`${shownValue(text)}\``;
    this.addError(node.mark, `cannot construct ${tag}${value} into ${typeName}`);
    return false;
  }

  /** As mismatch for a scalar; null and a merge sign are passed over in silence. */
  scalarMismatch(node: ScalarNode, meaning: Resolved, typeName: string): false {
    if (meaning.value === null || meaning.tag === "!!merge") return false;
    return this.mismatch(node, meaning.tag, typeName);
  }

  /** What a scalar means, with its tag obeyed and binary data decoded. */
  meaning(node: ScalarNode): Resolved {
    if (isWrittenAsString(node)) return { tag: "!!str", value: node.text };
    if (node.tag !== "!!binary") return resolveTagged(node.tag, node.text);
    return { tag: "!!binary", value: decodeBinary(node) };
  }

  /** True when no key of the map is written twice; notes every repetition. */
  checkUnique(mapping: MappingNode): boolean {
    const groups = new Map<string, YamlNode[]>();
    for (const [key] of mapping.pairs) {
      const id = writtenKey(key);
      const group = groups.get(id);
      if (group === undefined) groups.set(id, [key]);
      else group.push(key);
    }
    if (groups.size === mapping.pairs.length) return true;
    for (const [id, keys] of groups) {
      if (this.saidEnough()) break;
      const problem = `mapping key ${shownKey(id.slice(id.indexOf(" ") + 1))} already defined at line `;
      for (let i = 0; i < keys.length && !this.saidEnough(); i += 1) {
        const line = keys[i]?.mark.line;
        for (const later of keys.slice(i + 1, i + 1 + MAX_REPORTED_ERRORS)) {
          this.addError(later.mark, problem + line);
        }
      }
    }
    return false;
  }

  /**
   * Hands every pair but the merge key to `take`, then applies the merge key: `into` takes each merged map with the
   * keys of this one (named by `identify`) protected.
   */
  eachPair(
    mapping: MappingNode,
    steps: {
      take: (key: YamlNode, value: YamlNode, isMerged: (id: string) => boolean) => void;
      identify: (key: YamlNode) => string | null;
      into: Reader;
    },
  ): void {
    const merged = this.mergedKeys;
    this.mergedKeys = null;
    const isMerged = (id: string): boolean => {
      if (merged === null) return false;
      if (merged.has(id)) return true;
      merged.add(id);
      return false;
    };
    let source: YamlNode | null = null;
    for (const [key, value] of mapping.pairs) {
      if (isMergeKey(key)) source = value;
      else steps.take(key, value, isMerged);
    }
    this.mergedKeys = merged;
    if (source === null) return;
    this.mergedKeys ??= new Set(mapping.pairs.flatMap(([key]) => steps.identify(key) ?? []));
    this.merge(source, steps.into);
    this.mergedKeys = merged;
  }

  private merge(source: YamlNode, into: Reader): void {
    const sources = source.kind === "sequence" ? source.items : [source];
    for (const node of sources) {
      const target = node.kind === "alias" ? node.target : node;
      if (target.kind !== "mapping") {
        const problem = "map merge requires map or sequence of maps as the value";
        throw loadError("constructor", problem, target.mark);
      }
      this.construct(node, into);
    }
  }

  private countAliased(node: YamlNode): void {
    this.aliasedNodes += 1;
    if (node.kind === "scalar") this.aliasedCharacters += node.text.length;
    if (this.aliasedNodes > MAX_ALIASED_NODES || this.aliasedCharacters > MAX_ALIASED_CHARACTERS) {
      throw loadError("constructor", "document contains excessive aliasing", node.mark);
    }
  }
}

/** How a key was written: two keys that agree in this are the same key. */
function writtenKey(key: YamlNode): string {
  if (key.kind === "scalar") return `scalar ${key.text}`;
  return key.kind === "alias" ? `alias ${key.name}` : `${key.kind} `;
}

function decodeBinary(node: ScalarNode): string {
  const problem = "!!binary value contains invalid base64 data";
  const encoded = node.text.replaceAll(/[\r\n]/g, "");
  if (!BASE64.test(encoded)) throw loadError("constructor", problem, node.mark);
  const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw loadError(
      "constructor",
      "!!binary value is not UTF-8 text, which is all a schematic holds",
      node.mark,
    );
  }
}

/** One string per distinct key value, so that 1 and "1" differ but two spellings of 1 do not. */
export function keyIdentity(key: OptionValue): string {
  if (key !== null && typeof key === "object" && "timestamp" in key) return `timestamp ${key.timestamp}`;
  return `${typeof key} ${String(key)}`;
}
