/** Values of free form: whatever a document holds, as option values with typed keys in nested maps. */
import type { OptionValue } from "../schematic-types.ts";
import { type Construction, keyIdentity, type Reader } from "./construct.ts";
import { loadError } from "./failure.ts";
import { effectiveTag, type MappingNode, type YamlNode } from "./nodes.ts";
import { stringReader } from "./readers.ts";

const isStringMap = (mapping: MappingNode): boolean =>
  mapping.pairs.every(([key]) => ["!!str", "!!merge"].includes(effectiveTag(key)));

/** A map under construction: equal keys meet in one entry, the later value wins. */
class MapBuilder {
  readonly map = new Map<OptionValue, OptionValue>();
  private readonly keys = new Map<string, OptionValue>();

  set(key: OptionValue, value: OptionValue): void {
    const id = keyIdentity(key);
    const known = this.keys.get(id);
    if (known === undefined) this.keys.set(id, key);
    this.map.set(known ?? key, value);
  }
}

/** Takes any value. */
function optionReader(construction: Construction, set: (value: OptionValue) => void): Reader {
  return (node) => {
    if (node.kind === "scalar") {
      const meaning = construction.meaning(node);
      if (meaning.tag === "!!merge") return false;
      set(meaning.value);
      return true;
    }
    if (node.kind === "sequence") {
      const items: OptionValue[] = [];
      for (const item of node.items) {
        construction.construct(
          item,
          optionReader(construction, (value) => items.push(value)),
        );
      }
      set(items);
      return true;
    }
    if (!construction.checkUnique(node)) return false;
    const builder = new MapBuilder();
    const stringKeys = isStringMap(node);
    set(builder.map);
    fill(construction, node, builder, stringKeys);
    return true;
  };
}

function readKey(construction: Construction, key: YamlNode, stringKeys: boolean): OptionValue | undefined {
  let taken: OptionValue | undefined;
  const take = (value: OptionValue) => {
    taken = value;
  };
  const good = construction.construct(
    key,
    stringKeys ? stringReader(construction, take) : optionReader(construction, take),
  );
  return good ? taken : undefined;
}

/** Lists, maps, .nan and -0 are no keys: the first three have no order, the last is no key of a Map. */
function requireKey(key: OptionValue, node: YamlNode): void {
  let shown: string | null = null;
  if (Array.isArray(key)) shown = "a list";
  else if (key instanceof Map) shown = "a map";
  else if (Number.isNaN(key)) shown = ".nan";
  else if (Object.is(key, -0)) shown = "-0";
  if (shown !== null) throw loadError("constructor", `cannot use ${shown} as a map key`, node.mark);
}

function fill(
  construction: Construction,
  mapping: MappingNode,
  builder: MapBuilder,
  stringKeys: boolean,
): void {
  construction.eachPair(mapping, {
    take: (keyNode, valueNode, isMerged) => {
      const key = readKey(construction, keyNode, stringKeys);
      if (key === undefined) return;
      requireKey(key, keyNode);
      if (isMerged(keyIdentity(key))) return;
      construction.construct(
        valueNode,
        optionReader(construction, (value) => builder.set(key, value)),
      );
    },
    identify: (keyNode) => {
      const key = readKey(construction, keyNode, false);
      return key === undefined ? null : keyIdentity(key);
    },
    into: (node) => {
      if (node.kind !== "mapping" || !construction.checkUnique(node)) return false;
      fill(construction, node, builder, stringKeys);
      return true;
    },
  });
}

/** Takes a map whose own keys become strings. A null gives an empty map. */
export function optionMapReader(
  construction: Construction,
  typeName: string,
  set: (value: Map<string, OptionValue>) => void,
): Reader {
  return (node) => {
    if (node.kind === "scalar") {
      return construction.scalarMismatch(node, construction.meaning(node), typeName);
    }
    if (node.kind === "sequence") return construction.mismatch(node, "!!seq", typeName);
    if (!construction.checkUnique(node)) return false;
    const builder = new MapBuilder();
    fill(construction, node, builder, true);
    const entries = [...builder.map].flatMap(([key, value]): [string, OptionValue][] =>
      typeof key === "string" ? [[key, value]] : [],
    );
    set(new Map(entries));
    return true;
  };
}
