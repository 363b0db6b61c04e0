/** A machine configuration as people paste it: is it YAML, are its documents ones a machine knows, does it hold secrets. */
import type { YamlNode } from "../yaml/nodes.ts";
import { parseDocument } from "../yaml/parser.ts";

/** list: not a map; kind: a map that neither names its kind nor is a whole machine configuration. */
export interface DocumentFault {
  /** 1 for the first document. */
  document: number;
  fault: "list" | "kind";
}

const WHOLE_CONFIGURATION = new Set(["machine", "cluster", "version"]);
const SECRET_KEY = /token|secret|passw|passphrase|private_?key|preshared_?key|^key$|^auth$/i;
const DEEPEST = 32;
const MOST_NAMED = 5;

const textOf = (node: YamlNode): string => (node.kind === "scalar" ? node.text : "");

/** The documents of a text, empty ones left out. Throws invalid_input with the decoder's words. */
export function readDocuments(text: string): YamlNode[] {
  return text
    .replace(/\r\n?/g, "\n")
    .split(/^---(?=\s|$)/m)
    .map(parseDocument)
    .filter((node): node is YamlNode => node !== null);
}

/** The first document that a machine would not take; null when all look right. */
export function documentFault(documents: readonly YamlNode[]): DocumentFault | null {
  for (const [index, node] of documents.entries()) {
    if (node.kind !== "mapping") return { document: index + 1, fault: "list" };
    const keys = node.pairs.map(([key]) => textOf(key));
    const named = keys.includes("kind") && keys.includes("apiVersion");
    if (!named && !keys.some((key) => WHOLE_CONFIGURATION.has(key)))
      return { document: index + 1, fault: "kind" };
  }
  return null;
}

function collect(node: YamlNode, path: string, found: string[], depth: number): void {
  if (depth > DEEPEST || found.length >= MOST_NAMED) return;
  if (node.kind === "sequence") for (const item of node.items) collect(item, path, found, depth + 1);
  if (node.kind !== "mapping") return;
  for (const [key, value] of node.pairs) {
    const name = textOf(key);
    const own = path === "" ? name : `${path}.${name}`;
    if (value.kind === "scalar" && value.text !== "" && SECRET_KEY.test(name)) found.push(own);
    else collect(value, own, found, depth + 1);
  }
}

/** Paths of values that look like secrets, the first few. */
export function secretPaths(documents: readonly YamlNode[]): string[] {
  const found: string[] = [];
  for (const node of documents) collect(node, "", found, 0);
  return found.slice(0, MOST_NAMED);
}
