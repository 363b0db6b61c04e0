/** One spelling per value: JSON with sorted keys and no spaces, the text that content keys are made of. */
import type { Json } from "../types.ts";

/**
 * Canonical JSON text of a value: object keys in code unit order, no white space, strings and numbers as
 * JSON.stringify writes them (RFC 8785 for the values used here).
 */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (value !== null && typeof value === "object") {
    const members = Object.keys(value)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`);
    return `{${members.join(",")}}`;
  }
  return JSON.stringify(value);
}
