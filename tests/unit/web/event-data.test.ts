/** The events of a build come from outside: what is not of its kind changes nothing. */
import { describe, expect, it } from "vitest";
import { buildError, buildState, number, text } from "../../../components/build/event-data.ts";
import { applyEvent } from "../../../components/build/progress.ts";
import type { BuildProgress } from "../../../components/build/progress-types.ts";

const before: BuildProgress = {
  ...{ state: "building", percent: 40, attempt: 1, error: null },
  ...{ steps: [], log: [] },
};

describe("the data of an event", () => {
  it("is read by its kind", () => {
    expect([text("a"), text(1), text(null)]).toEqual(["a", "", ""]);
    expect([number(1), number("1"), number(undefined)]).toEqual([1, null, null]);
    expect([buildState("ready"), buildState("melted"), buildState(3)]).toEqual(["ready", null, null]);
  });

  it("holds an error only where there is a message", () => {
    const whole = {
      code: "build_failed",
      message: "no",
      hint: "wait",
      detail: { step: "x" },
      retryable: false,
    };
    expect(buildError(whole)).toEqual(whole);
    expect(buildError({ ...whole, hint: 1, detail: "x", retryable: "no" })).toEqual({
      code: "build_failed",
      message: "no",
    });
    for (const none of [null, undefined, "no", { code: "build_failed" }]) expect(buildError(none)).toBeNull();
  });

  it("leaves the state as it was when it names none", () => {
    expect(applyEvent(before, { type: "state", data: { state: "melted" }, at: 0 }).state).toBe("building");
    expect(applyEvent(before, { type: "done", data: { state: "failed", error: 7 }, at: 0 })).toMatchObject({
      state: "failed",
      error: null,
    });
  });
});
