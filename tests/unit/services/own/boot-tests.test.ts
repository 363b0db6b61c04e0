/** How boot tests end when something is missing: no QEMU, a worker that died or stops, a machine that says too much or nothing. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { BootTestRepository } from "../../../../lib/db/boot-test-repository.ts";
import type { BootTest } from "../../../../lib/domain/boot-test.ts";
import { AppError } from "../../../../lib/errors/app-error.ts";
import type { RunTool } from "../../../../lib/exec/run.ts";
import { type BootTestOptions, createBootTestService } from "../../../../lib/services/own/boot-tests.ts";

const NAME = "team/chaos-daemon";
const DIGEST = `sha256:${"a".repeat(64)}`;
const PIN = {
  ...{ id: "pin", name: NAME, tag: "v1", digest: DIGEST, subject: "extension", state: "adopted" },
  ...{ platforms: ["amd64"], talos: "", constraint: "" },
  reports: [{ arch: "amd64", metadata: { name: "chaos-daemon", version: "v1.0.0" } }],
};
const SEEN = "casthouse-sample: extension 000.x chaos-daemon v1.0.0";

let scratchDir: string;
let rows: Map<string, BootTest>;
let schematics: string[];
let nowMs: number;

beforeEach(async () => {
  scratchDir = await mkdtemp(join(tmpdir(), "boot-tests-"));
  rows = new Map();
  schematics = [];
  nowMs = 0;
});
afterEach(() => rm(scratchDir, { recursive: true, force: true }));

const change = (id: string, changes: Partial<BootTest>) => {
  const row = rows.get(id);
  if (row) rows.set(id, { ...row, ...changes });
};
const repository: BootTestRepository = {
  async insert(row) {
    if ([...rows.values()].some(({ finishedAt }) => finishedAt === null)) return false;
    rows.set(row.id, row);
    return true;
  },
  find: async (id) => rows.get(id) ?? null,
  lastOf: async () => [...rows.values()].slice(-1),
  async claim(id, at) {
    if (rows.get(id)?.state !== "queued") return false;
    change(id, { state: "running", seenAt: at });
    return true;
  },
  touch: async (id, at) => change(id, { seenAt: at }),
  setSchematic: async (id, schematicId) => change(id, { schematicId }),
  finish: async (id, { at, ...end }) => change(id, { ...end, finishedAt: at }),
};

function service(run: RunTool, changes: { hasQemu?: boolean; sample?: boolean } = {}) {
  const fakes: unknown = {
    rows: repository,
    own: { requirePin: async () => PIN },
    releases: {
      versions: async () => ["v1.13.2"],
      extensions: async () => [{ name: NAME, digest: DIGEST }],
      require: async () => ({ sample: changes.sample ?? true }),
    },
    schematics: { create: async (text: string) => ({ id: `${schematics.push(text)}` }) },
    assets: {
      resolve: async () => ({}),
      ensure: async () => ({}),
      open: async () => Readable.from([Buffer.from("iso")]),
    },
    producer: { enqueue: async () => undefined },
    ...{ run, scratchDir, now: () => nowMs, onError: () => undefined },
    hasQemu: async () => changes.hasQemu ?? true,
  };
  return createBootTestService(fakes as BootTestOptions);
}

/** QEMU that writes lines and then runs on until it is ended. */
const talking =
  (...lines: string[]): RunTool =>
  async (tool, _args, { onLine, signal } = {}) => {
    for (const line of lines) onLine?.(line);
    if (!signal?.aborted) await new Promise((resolve) => signal?.addEventListener("abort", resolve));
    throw new AppError("cancelled", `${tool} was ended`);
  };

async function result(run: RunTool, changes = {}, signal = new AbortController().signal): Promise<BootTest> {
  const tests = service(run, changes);
  const { id } = await tests.request("pin", "r");
  await tests.run(id, "r", signal);
  expect(await readdir(scratchDir)).toEqual([]);
  return tests.last("pin");
}

test("the machine is ended as soon as the console has proven something", async () => {
  const ended = await result(talking("\u001b[2J[ 0.1] Linux", SEEN, "casthouse-sample: boot ok"));
  expect(ended).toMatchObject({ state: "passed", reason: null, schematicId: "1" });
  expect(ended.log).toBe(`[ 0.1] Linux\n${SEEN}\ncasthouse-sample: boot ok\n`);
  expect(schematics).toEqual([`{"customization":{"systemExtensions":{"officialExtensions":["${NAME}"]}}}`]);
});

test("a release for machines is told to use the serial line", async () => {
  const ended = await result(talking("[talos] entering maintenance service"), { sample: false });
  expect(ended.state).toBe("passed");
  expect(schematics[0]).toContain('"extraKernelArgs":["console=ttyS0"]');
});

test("without QEMU the test fails before anything is built, and names the package", async () => {
  const ended = await result(talking(), { hasQemu: false });
  expect(ended).toMatchObject({
    ...{ state: "failed", ms: null, log: "" },
    reason: "QEMU is not installed where the worker runs (package qemu-system-x86)",
  });
  expect(schematics).toEqual([]);
});

test("a machine that says nothing until the limit, one that ends, and a QEMU that fails are told apart", async () => {
  const silent: RunTool = async (_tool, _args, { onLine } = {}) => {
    onLine?.("SeaBIOS");
    throw new AppError("timed_out", "too long");
  };
  expect(await result(silent)).toMatchObject({ reason: "No sign of life after 240 s", log: "SeaBIOS\n" });
  rows.clear();
  const over: RunTool = async () => ({ stdout: "", stderr: "" });
  expect((await result(over)).reason).toBe("The machine switched itself off before it was up");
  rows.clear();
  const broken: RunTool = async () => {
    throw new AppError("tool_failed", "qemu-system-x86_64 ended with 1", { details: { tail: "no memory" } });
  };
  expect(await result(broken)).toMatchObject({
    ...{ state: "failed", reason: "qemu-system-x86_64 ended with 1: no memory" },
  });
});

test("a worker that stops ends the machine and says so", async () => {
  const stopping = new AbortController();
  const run: RunTool = (...given) => {
    setImmediate(() => stopping.abort());
    return talking("SeaBIOS")(...given);
  };
  expect(await result(run, {}, stopping.signal)).toMatchObject({
    ...{ state: "failed", reason: "The worker was stopped" },
  });
});

test("a worker that died does not stand in the way of the next test", async () => {
  const tests = service(talking());
  const { id } = await tests.request("pin", "r");
  await repository.claim(id, new Date(0));
  await expect(tests.request("pin", "r")).rejects.toMatchObject({ code: "conflict" });
  nowMs = 10 * 60_000 + 1;
  expect((await tests.request("pin", "r")).state).toBe("queued");
  expect(rows.get(id)).toMatchObject({ state: "failed", reason: expect.stringContaining("ten minutes") });
});
