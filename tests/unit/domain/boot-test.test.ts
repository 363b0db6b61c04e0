/** What the console of a booted machine proves, and which tests were left behind. */
import { describe, expect, test } from "vitest";
import {
  createBootJudge,
  MAINTENANCE_ONLY,
  newestCovered,
  staleReason,
  type Verdict,
} from "../../../lib/domain/boot-test.ts";

/** Written in the form of the sample release; tests/integration/own-extensions.test.ts judges a console that a machine wrote. */
const CONSOLE = [
  "[    0.000000] Linux version 6.1.0-sample",
  "casthouse-sample: version v1.13.2",
  "casthouse-sample: boot mode=bios",
  "casthouse-sample: extension 000.localhost:5000-team-chaos-daemon chaos-daemon v1.0.0",
  "casthouse-sample: service chaos-daemon chaos-daemon v1.0.0 is ready",
];
const OK = "casthouse-sample: boot ok";

function judged(lines: string[], tested = { name: "chaos-daemon", version: "v1.0.0" }): Verdict | null {
  const judge = createBootJudge(tested);
  for (const line of lines) {
    const verdict = judge(line);
    if (verdict !== null) return verdict;
  }
  return null;
}

describe("the verdict", () => {
  test("is a pass once the system is up and names the extension and its version", () => {
    expect(judged([...CONSOLE, OK])).toEqual({ state: "passed", reason: null });
    expect(judged(CONSOLE)).toBeNull();
  });

  test("fails a system that is up with another version, or with none", () => {
    expect(judged([...CONSOLE, OK], { name: "chaos-daemon", version: "v2.0.0" })).toEqual({
      state: "failed",
      reason: "The machine came up and sees chaos-daemon v1.0.0, not chaos-daemon v2.0.0",
    });
    expect(judged([OK])?.reason).toBe("The machine came up and sees no extension, not chaos-daemon v1.0.0");
  });

  test("fails a first stage that gave up, and a kernel that panics, with their words", () => {
    expect(judged(["casthouse-sample: boot failed: no rootfs"])).toEqual({
      state: "failed",
      reason: "boot failed: no rootfs",
    });
    expect(judged(["[    1.2] Kernel panic - not syncing: VFS: no root", OK])).toEqual({
      state: "failed",
      reason: "Kernel panic - not syncing: VFS: no root",
    });
  });

  test("of a system that cannot be asked says so", () => {
    expect(judged(["[   20.1] [talos] entering maintenance service"])).toEqual({
      state: "passed",
      reason: MAINTENANCE_ONLY,
    });
  });
});

describe("a test that nobody works at", () => {
  const seenAt = new Date(0);
  const minutes = (count: number) => count * 60_000;

  test("is given up ten minutes after the last sign of life", () => {
    expect(staleReason({ state: "running", seenAt }, minutes(10))).toBeNull();
    expect(staleReason({ state: "running", seenAt }, minutes(10) + 1)).toMatch(/not been heard of/);
  });

  test("is given up when no worker takes it within an hour; what has ended stays as it is", () => {
    expect(staleReason({ state: "queued", seenAt }, minutes(60))).toBeNull();
    expect(staleReason({ state: "queued", seenAt }, minutes(60) + 1)).toMatch(/No worker/);
    expect(staleReason({ state: "passed", seenAt }, minutes(600))).toBeNull();
    expect(staleReason({ state: "failed", seenAt }, minutes(600))).toBeNull();
  });
});

test("the newest release that range and manifest allow is booted, stable before others", () => {
  const versions = ["v1.12.0", "v1.13.0", "v1.13.2", "v1.14.0-beta.0"];
  expect(newestCovered({ talos: "", constraint: "" }, versions)).toBe("v1.13.2");
  expect(newestCovered({ talos: "", constraint: "<1.13.0" }, versions)).toBe("v1.12.0");
  expect(newestCovered({ talos: ">=1.14.0", constraint: "" }, versions)).toBe("v1.14.0-beta.0");
  expect(newestCovered({ talos: ">=1.15.0", constraint: "" }, versions)).toBeNull();
});
