/** The node graph of one YAML document: what was written, before it is given a type. */
import type { Mark } from "./failure.ts";

interface NodeBase {
  /** Short form such as "!!str"; empty when none was written, but plain scalars carry the one they resolve to. */
  tag: string;
  mark: Mark;
}

export interface ScalarNode extends NodeBase {
  kind: "scalar";
  text: string;
  /** True for quoted and block scalars. */
  quoted: boolean;
}

export interface SequenceNode extends NodeBase {
  kind: "sequence";
  items: YamlNode[];
}

export interface MappingNode extends NodeBase {
  kind: "mapping";
  pairs: [key: YamlNode, value: YamlNode][];
}

export interface AliasNode extends NodeBase {
  kind: "alias";
  name: string;
  target: YamlNode;
}

export type YamlNode = ScalarNode | SequenceNode | MappingNode | AliasNode;

const LONG_PREFIX = "tag:yaml.org,2002:";

/** "!!str" for "tag:yaml.org,2002:str"; other tags as they are. */
export const shortTag = (tag: string): string =>
  tag.startsWith(LONG_PREFIX) ? `!!${tag.slice(LONG_PREFIX.length)}` : tag;

/** True when the way of writing makes a scalar a string, whatever it looks like. */
export const isWrittenAsString = (node: ScalarNode): boolean =>
  node.tag === "!!str" || (node.quoted && (node.tag === "" || node.tag === "!"));

/** The tag that decides how a node is read; an alias has that of its target. */
export function effectiveTag(node: YamlNode): string {
  if (node.kind === "alias") return effectiveTag(node.target);
  if (node.kind === "scalar" && isWrittenAsString(node)) return "!!str";
  if (node.tag !== "" && node.tag !== "!") return node.tag;
  if (node.kind === "scalar") return "!!str";
  return node.kind === "mapping" ? "!!map" : "!!seq";
}

/** True for the merge key "<<" of YAML 1.1. */
export const isMergeKey = (node: YamlNode): boolean => node.kind === "scalar" && node.tag === "!!merge";

/** Tag of a list or map as messages name it. */
export const collectionTag = (node: SequenceNode | MappingNode): string =>
  node.kind === "sequence" ? "!!seq" : "!!map";
