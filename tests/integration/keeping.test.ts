/** Parts of the supervisor: its lock on a shared folder, and how it keeps a program and its log. */
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { AlreadyRunning, takeInstanceLock } from "../../scripts/supervisor/instance-lock.ts";
import { cutLog, Keeper, type KeptProgram } from "../../scripts/supervisor/keeper.ts";
import { identify } from "../../scripts/supervisor/process-identity.ts";

let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "casthouse-keeping-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
});

const fast = { touchMs: 50, watchMs: 300 };

/** The lock as the supervisor of another container leaves it. */
async function heldElsewhere(): Promise<string> {
  await mkdir(join(dir, "run"));
  const lock = join(dir, "run/supervisor.json");
  await writeFile(lock, JSON.stringify({ ...identify(process.pid), pid: 1, namespace: "pid:[1]" }));
  return lock;
}

test("a lock of a living supervisor in another container is respected", async () => {
  const lock = await heldElsewhere();
  const holder = setInterval(
    () => void writeFile(lock, JSON.stringify({ pid: 1, namespace: "pid:[1]" })),
    50,
  );
  onTestFinished(() => clearInterval(holder));
  await expect(takeInstanceLock(dir, fast)).rejects.toThrow(AlreadyRunning);
});

test("a lock of a container that is gone is taken over, and kept fresh", async () => {
  const lock = await heldElsewhere();
  let watched = 0;
  const release = await takeInstanceLock(dir, { ...fast, onWatch: () => watched++ });
  expect(watched).toBe(1);
  expect(JSON.parse(await readFile(lock, "utf8")).pid).toBe(process.pid);
  const before = (await stat(lock)).mtimeMs;
  await sleep(200);
  expect((await stat(lock)).mtimeMs).toBeGreaterThan(before);
  await release();
  await expect(stat(lock)).rejects.toThrow("ENOENT");
});

function keeper(script: string, ready: KeptProgram["ready"]) {
  const logFile = join(dir, "program.log");
  const command = { name: "program", command: process.execPath, args: ["-e", script], logFile };
  const times = { readyTimeoutMs: 20_000, stopGraceMs: 5_000 };
  const quiet = { say: () => undefined, onHopeless: () => undefined };
  const kept = new Keeper({ command, ready, ...times, runDir: join(dir, "run"), ...quiet });
  onTestFinished(() => kept.stop(0));
  return { kept, logFile };
}

const pidOf = async () => JSON.parse(await readFile(join(dir, "run/program.json"), "utf8")).pid;

test("the place in the log where a start begins is that after the log was put aside", async () => {
  const seen: number[] = [];
  const { kept, logFile } = keeper(
    'console.log("ready"); setInterval(() => {}, 1000)',
    async ({ logFrom }) => {
      seen.push(logFrom);
      return (await readFile(logFile, "utf8")).slice(logFrom).includes("ready");
    },
  );
  await writeFile(logFile, "x".repeat(11 * 1024 * 1024));
  await kept.start();
  expect(new Set(seen)).toEqual(new Set([0]));
  expect((await stat(`${logFile}.1`)).size).toBe(11 * 1024 * 1024);
});

test("a stop in the middle of a restart leaves nothing running", async () => {
  let starts = 0;
  const { kept } = keeper("setInterval(() => {}, 1000)", async () => ++starts === 1);
  await kept.start();
  const first = await pidOf();
  process.kill(first, "SIGKILL");
  // The next start is on its way when the record names another process; it is never ready.
  while ((await pidOf().catch(() => first)) === first) await sleep(5);
  const second = await pidOf();
  await kept.stop();
  expect(identify(second)).toBeNull();
});

test("a log is cut while the program writes, and goes on", async () => {
  const script = "setInterval(() => console.log('line'), 10)";
  const { kept, logFile } = keeper(script, async () => true);
  await kept.start();
  while ((await stat(logFile)).size < 50) await sleep(20);
  await cutLog(logFile, 20);
  expect((await stat(`${logFile}.1`)).size).toBeGreaterThanOrEqual(50);
  await sleep(200);
  const text = await readFile(logFile, "utf8");
  expect(text.startsWith("line\n")).toBe(true);
});
