/** Overlay options as plain JSON-like data, the form in which recipes and plans carry them. */
import type { OptionValue } from "./schematic-types.ts";

export type PlainOption = null | boolean | number | string | PlainOption[] | { [key: string]: PlainOption };

function plainKey(key: OptionValue): string {
  const plain = plainOption(key);
  return typeof plain === "string" ? plain : JSON.stringify(plain);
}

/** Integers that a double cannot hold and numbers JSON does not know become their text. */
function plainNumber(value: bigint | number): number | string {
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

/** One option value without Maps, bigints and time stamps. */
export function plainOption(value: OptionValue): PlainOption {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "bigint" || typeof value === "number") return plainNumber(value);
  if (Array.isArray(value)) return value.map(plainOption);
  if (value instanceof Map) return plainEntries(value);
  return value.timestamp;
}

function plainEntries(options: ReadonlyMap<OptionValue, OptionValue>): { [key: string]: PlainOption } {
  return Object.fromEntries([...options].map(([key, value]) => [plainKey(key), plainOption(value)]));
}

/** The options of a schematic's overlay; an empty object when it has none. */
export function plainOptions(options: ReadonlyMap<string, OptionValue> | undefined): {
  [key: string]: PlainOption;
} {
  return options === undefined ? {} : plainEntries(options);
}
