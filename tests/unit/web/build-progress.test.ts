/** What the build page makes of the events of a build. */
import { describe, expect, it } from "vitest";
import { phaseGroups } from "../../../components/build/phase-groups.ts";
import { applyEvent, initialProgress } from "../../../components/build/progress.ts";
import type { BuildSnapshot } from "../../../components/build/snapshot.ts";

const PLANNED = [
  { title: "Pack a", phase: "extensions" },
  { title: "Pack b", phase: "extensions" },
  { title: "Write", phase: "iso" },
];

const build = (change: Partial<BuildSnapshot> = {}): BuildSnapshot => ({
  ...{
    id: "b",
    assetKey: "k",
    schematicId: "s",
    schematicHidden: false,
    version: "v1.13.2",
    path: "metal-amd64.iso",
    lockId: null,
  },
  ...{ state: "queued", phase: null, step: 0, of: 3, percent: 0, note: null, error: null, attempts: 0 },
  ...{
    waiters: 0,
    forecast: null,
    queuedAt: "2026-01-01T00:00:00Z",
    startedAt: null,
    finishedAt: null,
    asset: null,
  },
  timings: [],
  ...change,
});

const EVENTS: [type: string, data: Record<string, unknown>][] = [
  ["state", { state: "building", attempt: 1 }],
  ["phase", { phase: "extensions", step: 1, of: 3, title: "Pack a", cached: false }],
  ["log", { line: "packing" }],
  ["progress", { step: 1, of: 3, percent: 50, overall: 16, note: "3 of 6 MB" }],
  ["progress", { step: 1, of: 3, percent: 100, overall: 33, ms: 400 }],
  ["phase", { phase: "extensions", step: 2, of: 3, title: "Pack b", cached: true }],
  ["progress", { step: 2, of: 3, percent: 100, overall: 66, ms: 2 }],
  ["phase", { phase: "iso", step: 3, of: 3, title: "Write", cached: false }],
];

const seen = (count: number) =>
  EVENTS.slice(0, count).reduce(
    (progress, [type, data], index) => applyEvent(progress, { type, data, at: index * 100 }),
    initialProgress(build(), PLANNED),
  );

describe("build progress", () => {
  it("follows a build from the first event to the end", () => {
    expect(seen(4)).toMatchObject({ state: "building", percent: 16 });
    expect(seen(5).log).toEqual([
      "00:00:00.000 building, attempt 1",
      "00:00:00.100 extensions: Pack a",
      "00:00:00.200 packing",
      "00:00:00.400 extensions: Pack a, done in 400 ms",
    ]);
    expect(seen(4).steps[0]).toMatchObject({ state: "running", percent: 50, note: "3 of 6 MB" });
    expect(seen(8).steps.map((step) => step.state)).toEqual(["done", "done", "running"]);
    const done = applyEvent(seen(8), { type: "done", data: { state: "ready", error: null }, at: 900 });
    expect(done).toMatchObject({ state: "ready", percent: 100 });
  });

  it("marks the step in which a build failed", () => {
    const error = { code: "tool_failed", message: "no" };
    const failed = applyEvent(seen(8), { type: "done", data: { state: "failed", error }, at: 900 });
    expect(failed).toMatchObject({ state: "failed", error });
    expect(failed.steps.map((step) => step.state)).toEqual(["done", "done", "failed"]);
    const elsewhere = { ...error, detail: { step: "Pack a" } };
    const data = { state: "failed", error: elsewhere };
    const stopped = applyEvent(seen(8), { type: "done", data, at: 900 });
    expect(stopped.steps.map((step) => step.state)).toEqual(["done", "done", "waiting"]);
  });

  it("starts over when another attempt begins", () => {
    const again = applyEvent(seen(8), { type: "state", data: { state: "building", attempt: 2 }, at: 900 });
    expect(again).toMatchObject({ attempt: 2, percent: 0 });
    expect(again.steps.every((step) => step.state === "waiting")).toBe(true);
  });

  it("ignores events and step numbers it does not know", () => {
    expect(applyEvent(seen(4), { type: "weather", data: { sun: true }, at: 900 })).toEqual(seen(4));
    expect(applyEvent(seen(4), { type: "phase", data: { step: 1e9 }, at: 900 }).steps).toHaveLength(3);
  });

  it("shows a finished build from its timings alone", () => {
    const timings = [{ title: "Pack a", phase: "extensions" as const, ms: 5, cached: true }];
    const place = { phase: "extensions", note: "Pack b" } as const;
    const { steps } = initialProgress(build({ state: "failed", timings, ...place }), PLANNED);
    expect(steps.map((step) => step.state)).toEqual(["done", "failed", "waiting"]);
  });

  it("puts steps that follow each other in one phase together", () => {
    const groups = phaseGroups(seen(8).steps);
    expect(groups.map(({ phase, state, ms }) => ({ phase, state, ms }))).toEqual([
      { phase: "extensions", state: "done", ms: 500 },
      { phase: "iso", state: "running", ms: 0 },
    ]);
  });

  it("finds the place of a step that was not planned and leaves out what was not needed", () => {
    const fetched = [
      { type: "phase", data: { phase: "fetch", step: 1, title: "Fetch" }, at: 10 },
      { type: "phase", data: { phase: "iso", step: 2, title: "Write" }, at: 20 },
      { type: "progress", data: { step: 1, ms: 20 }, at: 30 },
      { type: "progress", data: { step: 2, ms: 20 }, at: 40 },
    ].reduce(applyEvent, initialProgress(build(), PLANNED));
    expect(fetched.steps.map((step) => step.title)).toEqual(["Fetch", "Pack a", "Pack b", "Write"]);
    const { steps } = applyEvent(fetched, { type: "done", data: { state: "ready" }, at: 50 });
    expect(steps.map((step) => step.title)).toEqual(["Fetch", "Write"]);
  });
});
