/** Small pieces of the build system that need no server. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { newBuildId } from "../../../../lib/db/build-id.ts";
import { fromExactJson, toExactJsonText, toJsonText } from "../../../../lib/db/json-text.ts";
import { isBuildId } from "../../../../lib/domain/build-record.ts";
import { AppError } from "../../../../lib/errors/app-error.ts";
import {
  compareEventIds,
  nextEventId,
  parseEventId,
  type StreamEvent,
} from "../../../../lib/queue/event-id.ts";
import { jobs } from "../../../../lib/queue/jobs.ts";
import { buildFailure, toBuildError } from "../../../../lib/services/builds/errors.ts";
import { IdleWatch } from "../../../../lib/services/builds/idle-watch.ts";
import { parsePlan } from "../../../../lib/services/builds/plan.ts";
import { ProgressTracker } from "../../../../lib/services/builds/progress.ts";
import { createWorkerIdentity } from "../../../../lib/services/builds/worker-identity.ts";
import { fakeAsset } from "../../../fixtures/fake-plan.ts";

const nowhere = { phase: null, step: null };

describe("build ids", () => {
  test("sort by time and are UUIDs of version 7", () => {
    const ids = [1, 2_000, 1_700_000_000_000, 1_900_000_000_000].map((ms) => newBuildId(ms));
    expect([...ids].sort()).toEqual(ids);
    for (const id of ids)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(ids.every(isBuildId)).toBe(true);
    expect(isBuildId("0190A000-0000-7000-8000-000000000000")).toBe(false);
  });
});

describe("event ids", () => {
  test("grow even when the clock goes back", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 2 ** 45 }), { maxLength: 50 }), (clock) => {
        let last = "0-0";
        for (const now of clock) {
          const next = nextEventId(last, now);
          expect(compareEventIds(next, last)).toBeGreaterThan(0);
          last = next;
        }
      }),
    );
  });

  test("a Last-Event-ID that is none of ours means the start", () => {
    for (const text of [undefined, "", "abc", "1", "1-", "-1-1", "1-1-1", "9".repeat(30)]) {
      expect(parseEventId(text)).toBe("0-0");
    }
    expect(parseEventId("1700000000000-3")).toBe("1700000000000-3");
  });
});

describe("JSON for jsonb columns", () => {
  test("any value comes back exactly", () => {
    const strings = fc.string({ unit: "binary" });
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), strings, (value, text) => {
        const wrapped = { value, text: `${text}\0\ud800` };
        const stored = toExactJsonText(wrapped);
        expect(stored).not.toMatch(/(?<!\\)(\\\\)*\\u(0000|d[89ab]|d[c-f])/i);
        expect(JSON.stringify(fromExactJson(JSON.parse(stored)))).toBe(JSON.stringify(wrapped));
      }),
    );
  });

  test("texts for people lose only what Postgres cannot hold", () => {
    expect(JSON.parse(toJsonText({ line: "a\0b \ud800 é 😀" }))).toEqual({ line: "a\uFFFDb \uFFFD é 😀" });
  });
});

describe("errors of builds", () => {
  const code = (error: unknown) => toBuildError(error, nowhere);

  test("say whether the same work may succeed later", () => {
    expect(code(new AppError("upstream_unavailable", "away")).retryable).toBe(true);
    expect(code(new TypeError("bug")).retryable).toBe(false);
  });

  test("a full disk is named, also behind the step that met it", () => {
    const full = Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
    expect(code(full)).toMatchObject({ code: "out_of_space", message: "the disk of the worker is full" });
    const wrapped = new AppError("build_failed", 'failed in the step "x"', {
      cause: full,
      details: { step: "x" },
    });
    expect(code(wrapped)).toMatchObject({ code: "out_of_space", detail: { step: "x", cause: "ENOSPC" } });
  });

  test("an error keeps code, hint and details on its way through the row", () => {
    const thrown = new AppError("tool_failed", "xorriso ended with 5", {
      hint: "h",
      details: { tool: "xorriso", exitCode: 5 },
    });
    const error = toBuildError(thrown, { phase: "iso", step: "Write the ISO" });
    const row = { id: "b", state: "failed", error } as unknown as Parameters<typeof buildFailure>[0];
    expect(buildFailure(row)).toMatchObject({
      code: "tool_failed",
      message: "xorriso ended with 5",
      extra: {
        hint: "h",
        details: { tool: "xorriso", exitCode: 5, phase: "iso", step: "Write the ISO", buildId: "b" },
      },
    });
  });
});

describe("progress", () => {
  function tracker() {
    const events: Omit<StreamEvent, "id">[] = [];
    let now = 0;
    const progress = new ProgressTracker(
      { add: (type, data) => void events.push({ type, data }) },
      () => now,
    );
    return {
      progress,
      events,
      pass: (ms: number) => {
        now += ms;
      },
    };
  }

  test("counts steps that run side by side and parts that were there", () => {
    const { progress } = tracker();
    const begin = (step: number, cached = false) =>
      progress.report({ type: "phase", phase: "initramfs", step, of: 4, title: `s${step}`, cached });
    begin(3, true);
    progress.report({ type: "done", step: 3, ms: 0 });
    begin(1);
    begin(2);
    expect(progress.row()).toMatchObject({ step: 2, steps: 4, percent: 25 });
    progress.report({ type: "progress", step: 1, of: 4, percent: 50 });
    progress.report({ type: "progress", step: 2, of: 4, percent: 50 });
    expect(progress.row().percent).toBe(50);
    progress.report({ type: "done", step: 2, ms: 7 });
    progress.report({ type: "done", step: 1, ms: 9 });
    expect(progress.row().percent).toBe(75);
    expect(progress.row().timings).toEqual([
      { title: "s3", phase: "initramfs", ms: 0, cached: true },
      { title: "s2", phase: "initramfs", ms: 7, cached: false },
      { title: "s1", phase: "initramfs", ms: 9, cached: false },
    ]);
  });

  test("a flood of percents becomes at most four events a second", () => {
    const { progress, events, pass } = tracker();
    progress.report({ type: "phase", phase: "compress", step: 1, of: 1, title: "t", cached: false });
    for (let i = 0; i < 1_000; i += 1) {
      pass(2);
      progress.report({ type: "progress", step: 1, of: 1, percent: i / 10 });
    }
    expect(events.filter((event) => event.type === "progress").length).toBeLessThanOrEqual(9);
  });
});

describe("waiting", () => {
  function watch(views: ({ count: number; idleMs: number | null } | Error)[]) {
    let now = 0;
    const look = () => {
      const view = views.shift() ?? new Error("no more");
      return view instanceof Error ? Promise.reject(view) : Promise.resolve(view);
    };
    const idle = new IdleWatch({ look }, 60_000, () => now);
    return async (at: number) => {
      now = at;
      return idle.isAbandoned("b");
    };
  }

  test("the grace period counts from the last waiter", async () => {
    const at = watch([
      { count: 1, idleMs: 0 },
      { count: 0, idleMs: 5_000 },
      { count: 0, idleMs: 59_000 },
      { count: 0, idleMs: 61_000 },
    ]);
    expect([await at(0), await at(10_000), await at(64_000), await at(66_000)]).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });

  test("a Redis that is away or forgot everything is not taken for nobody", async () => {
    const away = new Error("away");
    const at = watch([
      { count: 1, idleMs: 0 },
      away,
      away,
      { count: 0, idleMs: null },
      { count: 0, idleMs: null },
    ]);
    expect(await at(0)).toBe(false);
    expect(await at(100_000)).toBe(false);
    expect(await at(200_000)).toBe(false);
    expect(await at(203_000)).toBe(false);
    expect(await at(261_000)).toBe(true);
  });
});

test("a plan read back from its row is the plan", () => {
  const { plan } = fakeAsset("plan", [{}, {}]);
  expect(parsePlan(JSON.parse(JSON.stringify(plan)))).toEqual(plan);
  expect(() => parsePlan({ ...plan, v: 2 })).toThrow("cannot be read by this version");
});

test("a dead process of this machine is known to be dead, others are left to their heartbeat", async () => {
  const me = await createWorkerIdentity();
  const [host, scope, , nonce] = me.name.split("/");
  expect(me.isDead(me.name)).toBe(false);
  expect(me.isDead([host, scope, process.ppid, nonce].join("/"))).toBe(false);
  expect(me.isDead([host, scope, process.pid, "00000000"].join("/"))).toBe(true);
  expect(me.isDead([host, scope, 2 ** 22 + 7, nonce].join("/"))).toBe(true);
  expect(me.isDead([host, "other", 2 ** 22 + 7, nonce].join("/"))).toBe(false);
  expect(me.isDead("nonsense")).toBe(false);
});

test("jobs: names differ per attempt and hold nothing that BullMQ forbids", () => {
  const { jobId } = jobs["asset.build"];
  const data = { v: 1, buildId: newBuildId(), attempt: 0, requestId: "r" } as const;
  expect(jobId(data)).not.toBe(jobId({ ...data, attempt: 1 }));
  expect(jobId(data)).not.toContain(":");
});
