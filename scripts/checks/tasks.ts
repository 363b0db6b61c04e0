/** One check or test tier: a program, how it ended, and how many tests it counted. */
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { TestCounts } from "../test-reporter.ts";

export interface Task {
  name: string;
  /** Program of node_modules (a path under it) and its arguments. */
  command: [string, ...string[]];
  /** vitest project; its counts are read. */
  tests?: boolean;
}

export interface Outcome {
  name: string;
  ok: boolean;
  seconds: number;
  output: string;
  counts: TestCounts | null;
}

const COUNTS_FOLDER = ".cache/test-counts";

export const STATIC_CHECKS: Task[] = [
  { name: "types", command: ["typescript/bin/tsc", "--noEmit", "-p", "."] },
  { name: "lint", command: ["@biomejs/biome/bin/biome", "ci", "--colors=off", "."] },
  // The whole tree, as in `npm run boundaries`: a folder that nobody listed is held to the rules too.
  {
    name: "layers",
    command: ["dependency-cruiser/bin/dependency-cruise.mjs", "--config", ".dependency-cruiser.cjs", "."],
  },
  { name: "dead code", command: ["knip/bin/knip.js"] },
];

/** A vitest run over one or more projects. */
export function tier(name: string, projects: string[] = [name]): Task {
  const selected = projects.flatMap((project) => ["--project", project]);
  return {
    name,
    tests: true,
    command: [
      "vitest/vitest.mjs",
      "run",
      ...selected,
      "--reporter=default",
      "--reporter=./scripts/test-reporter.ts",
    ],
  };
}

/** Runs the task with the Node that runs us. With `show` its output appears as it comes. */
function runTask(task: Task, show: boolean): Promise<Outcome> {
  mkdirSync(COUNTS_FOLDER, { recursive: true });
  const countsFile = join(COUNTS_FOLDER, `${task.name}.json`);
  rmSync(countsFile, { force: true });
  const start = Date.now();
  const [program, ...args] = task.command;
  return new Promise((resolve) => {
    const env = { ...process.env, CASTHOUSE_TEST_COUNTS: countsFile };
    const child = spawn(process.execPath, [join("node_modules", program), ...args], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    const take = (chunk: Buffer) => {
      output += chunk.toString();
      if (show) process.stdout.write(chunk);
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.once("error", (error) => {
      output += error.message;
    });
    child.once("close", (code) => {
      const counts = task.tests ? readCounts(countsFile) : null;
      const reasonless = counts?.skipped.some((test) => test.reason === null) ?? false;
      const ok = code === 0 && !reasonless && (!task.tests || counts !== null);
      resolve({ name: task.name, ok, seconds: (Date.now() - start) / 1000, output, counts });
    });
  });
}

/** Runs tasks, at most two at once, in the order given. */
export async function runAll(tasks: Task[], onDone: (outcome: Outcome) => void): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const waiting = [...tasks];
  const lane = async () => {
    for (let task = waiting.shift(); task; task = waiting.shift()) {
      const outcome = await runTask(task, false);
      outcomes.push(outcome);
      onDone(outcome);
    }
  };
  await Promise.all([lane(), lane()]);
  return outcomes;
}

/** One line per task, then what was skipped and why; gives the sums. A failed check without counts is one failure. */
export function printSummary(outcomes: Outcome[]): { passed: number; failed: number } {
  let passed = 0;
  let failed = 0;
  console.log("\nSummary");
  for (const { name, ok, seconds, counts } of outcomes) {
    passed += counts?.passed ?? 0;
    failed += ok ? 0 : Math.max(1, counts?.failed ?? 0);
    const numbers = counts
      ? `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped.length} skipped`
      : "";
    console.log(
      `  ${ok ? "ok    " : "FAILED"} ${name.padEnd(12)} ${seconds.toFixed(1).padStart(6)} s  ${numbers}`,
    );
  }
  for (const { counts } of outcomes) {
    for (const test of counts?.skipped ?? [])
      console.log(`  skipped: ${test.name}: ${test.reason ?? "NO REASON GIVEN"}`);
    for (const error of counts?.errors ?? []) console.log(`  error: ${error.split("\n")[0]}`);
  }
  return { passed, failed };
}

function readCounts(file: string): TestCounts | null {
  try {
    const counts: TestCounts = JSON.parse(readFileSync(file, "utf8"));
    return counts;
  } catch {
    return null;
  }
}
