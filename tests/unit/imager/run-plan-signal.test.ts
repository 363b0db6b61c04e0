/** All parts of a plan are looked for at the same time, each with listeners of its own on the one signal of the build. */
import { expect, test } from "vitest";
import { runPlan } from "../../../lib/imager/run-plan.ts";
import type { BuildPlan, PlanStep } from "../../../lib/imager/types.ts";

const step = (id: string, needs: string[], part: boolean): PlanStep => ({
  ...{ id, op: "unknown-op", phase: "initramfs", title: id, params: {}, needs, key: id, part },
});

test("twenty parts in a store make no warning of Node about a leak", async () => {
  const parts = Array.from({ length: 20 }, (_, index) => step(`part-${index}`, [], true));
  const last = step(
    "last",
    parts.map(({ id }) => id),
    false,
  );
  const plan: BuildPlan = {
    ...{ v: 1, version: "v1.13.2", sample: true, inputs: [], steps: [...parts, last], key: "last" },
    profile: { kind: "initramfs", platform: "metal", arch: "amd64", secureboot: false, outFormat: "raw" },
  };
  const names: string[] = [];
  const onWarning = ({ name }: Error) => void names.push(name);
  process.on("warning", onWarning);
  let looking = 0;
  let most = 0;
  const building = runPlan(plan, {
    ...{ dir: "/nonexistent", run: () => Promise.reject(new Error("no program is needed")) },
    parts: {
      async find(_op, key, signal) {
        looking += 1;
        most = Math.max(most, looking);
        // A connection, a pipeline and a stream that goes on where one broke.
        const leave = [0, 1, 2].map(() => () => undefined);
        for (const one of leave) signal.addEventListener("abort", one);
        await new Promise((resolve) => setTimeout(resolve, 5));
        for (const one of leave) signal.removeEventListener("abort", one);
        looking -= 1;
        return { path: `/nonexistent/${key}`, shape: "file" };
      },
      keep: () => Promise.reject(new Error("nothing is made")),
    },
    fetchInput: () => Promise.reject(new Error("there are no inputs")),
    onProgress: () => undefined,
    signal: new AbortController().signal,
  });
  await expect(building).rejects.toThrow("no step is called unknown-op");
  process.off("warning", onWarning);
  expect(most).toBe(20);
  expect(names).toEqual([]);
});
