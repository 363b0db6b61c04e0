/** When a build is tried again: which failures are worth it, how often, after what pause. docs/builds.md has the table. */
import type { AppError } from "../errors/app-error.ts";
import type { BuildRecord } from "./build-record.ts";

/** So many failures end a build. A worker that hands its build back because it is stopped did not fail. */
export const MOST_FAILURES = 3;
/** A failure that cannot heal by itself is told again for so long instead of being worked out again. */
export const FAILURE_REMEMBERED_MS = 30_000;
/** The same for what the source sent or lacks: that may be mended at any moment. */
export const SOURCE_FAILURE_REMEMBERED_MS = 3_000;

const OF_THE_SOURCE = new Set(["source_invalid", "not_found", "upstream_unavailable"]);

const FIRST_PAUSE_MS = 5_000;

/** True when the same work may well succeed later: the world was in the way, not the work. */
export function mayHeal({ code, extra }: AppError): boolean {
  if (extra.retryable !== undefined) return extra.retryable;
  // Killed by a signal: most often for want of memory.
  if (code === "tool_failed") return typeof extra.details?.signal === "string";
  return code === "upstream_unavailable" || code === "out_of_space";
}

/** True while a build that failed `failures` times, the last time included, has another try. */
export const hasAnotherTry = (failures: number): boolean => failures < MOST_FAILURES;

/** Milliseconds before the next try after `failures` failed ones, at least one: 5 s, then 20 s. */
export const pauseAfter = (failures: number): number => FIRST_PAUSE_MS * 4 ** (failures - 1);

/** True when the same request would end in the same way, and the last end is recent enough to be told again. */
export function wouldFailAgain(build: Pick<BuildRecord, "state" | "error" | "finishedAt">, nowMs: number) {
  if (build.state !== "failed" || build.error?.retryable !== false) return false;
  const rememberedMs = OF_THE_SOURCE.has(build.error.code)
    ? SOURCE_FAILURE_REMEMBERED_MS
    : FAILURE_REMEMBERED_MS;
  return build.finishedAt !== null && nowMs - build.finishedAt.getTime() < rememberedMs;
}
