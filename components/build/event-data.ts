/** Reads the data of a build's events, which come from outside: what is not of its kind counts as not said. */
import { BUILD_STATES } from "../../lib/domain/build-state.ts";
import type { BuildError, BuildState } from "../../lib/services/contracts.ts";

export type EventData = Record<string, unknown>;

/** Empty for anything but a text. */
export const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** Null for anything but a number. */
export const number = (value: unknown): number | null => (typeof value === "number" ? value : null);

/** Null for a word that names no state. */
export const buildState = (value: unknown): BuildState | null =>
  BUILD_STATES.find((state) => state === value) ?? null;

const isRecord = (value: unknown): value is EventData => typeof value === "object" && value !== null;

/** Null for anything without a message. */
export function buildError(value: unknown): BuildError | null {
  if (!isRecord(value) || typeof value.message !== "string") return null;
  const { code, message, hint, detail, retryable } = value;
  return {
    ...{ code: text(code), message },
    ...(typeof hint === "string" ? { hint } : {}),
    ...(isRecord(detail) ? { detail } : {}),
    ...(typeof retryable === "boolean" ? { retryable } : {}),
  };
}
