/** The retry rules of docs/builds.md. */
import { describe, expect, test } from "vitest";
import {
  FAILURE_REMEMBERED_MS,
  hasAnotherTry,
  mayHeal,
  pauseAfter,
  SOURCE_FAILURE_REMEMBERED_MS,
  wouldFailAgain,
} from "../../../lib/domain/build-retry.ts";
import { AppError } from "../../../lib/errors/app-error.ts";

describe("retries of builds", () => {
  test.each([
    [new AppError("upstream_unavailable", "away"), true],
    [new AppError("out_of_space", "full"), true],
    [new AppError("tool_failed", "exit 1", { details: { signal: null } }), false],
    [new AppError("tool_failed", "killed", { details: { signal: "SIGKILL" } }), true],
    [new AppError("upstream_unavailable", "never", { retryable: false }), false],
    [new AppError("timed_out", "late"), false],
    [new AppError("not_found", "gone"), false],
    [new AppError("build_failed", "once more", { retryable: true }), true],
  ])("%s: %s", (error, expected) => {
    expect(mayHeal(error)).toBe(expected);
  });

  test("the third failure is final, after pauses of 5 s and 20 s", () => {
    expect([1, 2, 3, 4].map(hasAnotherTry)).toEqual([true, true, false, false]);
    expect([1, 2].map(pauseAfter)).toEqual([5_000, 20_000]);
  });

  test("only a recent failure that cannot heal is told again", () => {
    const finishedAt = new Date(1_000_000);
    const error = { code: "tool_failed", message: "m", retryable: false };
    const failed = { state: "failed", error, finishedAt } as const;
    const now = finishedAt.getTime() + FAILURE_REMEMBERED_MS;
    expect(wouldFailAgain(failed, now - 1)).toBe(true);
    expect(wouldFailAgain(failed, now)).toBe(false);
    expect(wouldFailAgain({ ...failed, error: { ...error, retryable: true } }, now - 1)).toBe(false);
    expect(wouldFailAgain({ ...failed, state: "cancelled" }, now - 1)).toBe(false);
  });

  test.each(["source_invalid", "not_found", "upstream_unavailable"])(
    "%s is told again for seconds only: the source may be mended",
    (code) => {
      const finishedAt = new Date(1_000_000);
      const failed = {
        state: "failed",
        error: { code, message: "m", retryable: false },
        finishedAt,
      } as const;
      const now = finishedAt.getTime() + SOURCE_FAILURE_REMEMBERED_MS;
      expect(wouldFailAgain(failed, now - 1)).toBe(true);
      expect(wouldFailAgain(failed, now)).toBe(false);
    },
  );
});
