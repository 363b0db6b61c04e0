/** Readers of the typed fields: strings, numbers, booleans, lists and maps with known fields. */
import type { Construction, Reader } from "./construct.ts";
import { collectionTag, type YamlNode } from "./nodes.ts";

/** Takes strings, and numbers and booleans as they are written. */
export function stringReader(construction: Construction, set: (value: string) => void): Reader {
  return (node) => {
    if (node.kind !== "scalar") return construction.mismatch(node, collectionTag(node), "string");
    const meaning = construction.meaning(node);
    if (meaning.value === null) return false;
    if (typeof meaning.value === "object") return construction.mismatch(node, meaning.tag, "string");
    set(typeof meaning.value === "string" ? meaning.value : node.text);
    return true;
  };
}

/** Takes whole numbers from 0 to max; a float counts when it has no fraction. */
export function unsignedReader(
  construction: Construction,
  options: { typeName: string; max: bigint },
  set: (value: bigint) => void,
): Reader {
  return (node) => {
    const { typeName, max } = options;
    if (node.kind !== "scalar") return construction.mismatch(node, collectionTag(node), typeName);
    const meaning = construction.meaning(node);
    let whole: bigint | null = null;
    if (typeof meaning.value === "bigint") whole = meaning.value;
    else if (typeof meaning.value === "number" && Number.isInteger(meaning.value))
      whole = BigInt(meaning.value);
    if (whole === null || whole < 0n || whole > max)
      return construction.scalarMismatch(node, meaning, typeName);
    set(whole);
    return true;
  };
}

const TRUE_WORDS = new Set(["y", "Y", "yes", "Yes", "YES", "on", "On", "ON"]);
const FALSE_WORDS = new Set(["n", "N", "no", "No", "NO", "off", "Off", "OFF"]);

/** Takes booleans and the words of YAML 1.1, the latter also quoted. */
export function booleanReader(construction: Construction, set: (value: boolean) => void): Reader {
  return (node) => {
    if (node.kind !== "scalar") return construction.mismatch(node, collectionTag(node), "bool");
    const meaning = construction.meaning(node);
    if (typeof meaning.value === "boolean") {
      set(meaning.value);
      return true;
    }
    const isTrue = meaning.tag === "!!str" && TRUE_WORDS.has(node.text);
    const isFalse = meaning.tag === "!!str" && FALSE_WORDS.has(node.text);
    if (!isTrue && !isFalse) return construction.scalarMismatch(node, meaning, "bool");
    set(isTrue);
    return true;
  };
}

/** Takes a list; items that their reader does not take are left out. */
export function listReader<T>(
  construction: Construction,
  typeName: string,
  item: (push: (value: T) => void) => Reader,
  set: (value: T[]) => void,
): Reader {
  return (node) => {
    if (node.kind === "scalar") {
      return construction.scalarMismatch(node, construction.meaning(node), typeName);
    }
    if (node.kind === "mapping") return construction.mismatch(node, "!!map", typeName);
    const items: T[] = [];
    for (const child of node.items)
      construction.construct(
        child,
        item((value) => items.push(value)),
      );
    set(items);
    return true;
  };
}

/** Takes a map with known fields only. */
export function structReader(
  construction: Construction,
  typeName: string,
  fields: Record<string, Reader>,
): Reader {
  const known = new Map(Object.entries(fields));
  const nameOf = (key: YamlNode): string | null => {
    let name: string | null = null;
    const good = construction.construct(
      key,
      stringReader(construction, (value) => {
        name = value;
      }),
    );
    return good ? name : null;
  };
  const read: Reader = (node) => {
    if (node.kind === "scalar") {
      return construction.scalarMismatch(node, construction.meaning(node), typeName);
    }
    if (node.kind === "sequence") return construction.mismatch(node, "!!seq", typeName);
    if (!construction.checkUnique(node)) return false;
    const done = new Set<string>();
    construction.eachPair(node, {
      take: (key, value, isMerged) => {
        const name = nameOf(key);
        if (name === null || isMerged(name)) return;
        const field = known.get(name);
        if (field === undefined) {
          construction.addError(key.mark, `field ${name} not found in type ${typeName}`);
        } else if (done.has(name)) {
          construction.addError(key.mark, `field ${name} already set in type ${typeName}`);
        } else {
          done.add(name);
          construction.construct(value, field);
        }
      },
      identify: nameOf,
      into: read,
    });
    return true;
  };
  return read;
}
