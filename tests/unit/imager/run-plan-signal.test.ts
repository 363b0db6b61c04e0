/** All parts of a plan are looked for at the same time, with listeners on the one signal of the build, and found by id at once. */
import { expect, test } from "vitest";
import { runPlan } from "../../../lib/imager/run-plan.ts";
import type { BuildPlan, PlanStep, RunPlanOptions } from "../../../lib/imager/types.ts";

const step = (id: string, needs: string[], part: boolean): PlanStep => ({
  ...{ id, op: "unknown-op", phase: "initramfs", title: id, params: {}, needs, key: id, part },
});

/** A plan whose last step needs all the others and cannot be made. */
function planOf(parts: PlanStep[]): BuildPlan {
  const needs = parts.map(({ id }) => id);
  return {
    ...{ v: 1, version: "v1.13.2", sample: true, inputs: [], steps: [...parts, step("last", needs, false)] },
    profile: { kind: "initramfs", platform: "metal", arch: "amd64", secureboot: false, outFormat: "raw" },
    key: "last",
  };
}

const run = (plan: BuildPlan, find: RunPlanOptions["parts"]["find"]) =>
  runPlan(plan, {
    ...{ dir: "/nonexistent", run: () => Promise.reject(new Error("no program is needed")) },
    parts: { find, keep: () => Promise.reject(new Error("nothing is made")) },
    fetchInput: () => Promise.reject(new Error("there are no inputs")),
    onProgress: () => undefined,
    signal: new AbortController().signal,
  });

test("twenty parts in a store make no warning of Node about a leak", async () => {
  const plan = planOf(Array.from({ length: 20 }, (_, index) => step(`part-${index}`, [], true)));
  const names: string[] = [];
  const onWarning = ({ name }: Error) => void names.push(name);
  process.on("warning", onWarning);
  let looking = 0;
  let most = 0;
  const building = run(plan, async (_op, key, signal) => {
    looking += 1;
    most = Math.max(most, looking);
    // A connection, a pipeline and a stream that goes on where one broke.
    const leave = [0, 1, 2].map(() => () => undefined);
    for (const one of leave) signal.addEventListener("abort", one);
    await new Promise((resolve) => setTimeout(resolve, 5));
    for (const one of leave) signal.removeEventListener("abort", one);
    looking -= 1;
    return { path: `/nonexistent/${key}`, shape: "file" };
  });
  await expect(building).rejects.toThrow("no step is called unknown-op");
  process.off("warning", onWarning);
  expect(most).toBe(20);
  expect(names).toEqual([]);
});

test("the ids of a plan are read a few times each, however many steps it has", async () => {
  let reads = 0;
  const parts = Array.from({ length: 500 }, (_, index) => ({
    ...step(`part-${index}`, [], true),
    get id() {
      reads += 1;
      return `part-${index}`;
    },
  }));
  const building = run(planOf(parts), async (_op, key) => ({ path: `/nonexistent/${key}`, shape: "file" }));
  await expect(building).rejects.toThrow("no step is called unknown-op");
  expect(reads).toBeLessThan(5 * parts.length);
});
