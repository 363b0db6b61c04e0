/** What the values of a service definition are. */
import type { Findings } from "./findings.ts";

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

export const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === "string");

/** A warning for every key that is not known: it does nothing on the machine. */
export function unknownKeys(
  value: Record<string, unknown>,
  known: readonly string[],
  inside: string,
  path: string,
  findings: Findings,
): void {
  for (const key of Object.keys(value))
    if (!known.includes(key))
      findings.warning("service-unknown-key", `${path} has the unknown key ${inside}${key}`, {
        path,
        hint: `Known are ${known.map((one) => inside + one).join(", ")}.`,
      });
}
