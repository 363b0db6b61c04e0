/** Boot tests of own extensions: asked for on a page, run by a worker, shown with the console of the machine. */
import { createWriteStream } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import type { BootTestRepository } from "../../db/boot-test-repository.ts";
import { newBuildId } from "../../db/build-id.ts";
import { type BootTest, newestCovered, staleReason, type Verdict } from "../../domain/boot-test.ts";
import { AppError, notFound } from "../../errors/app-error.ts";
import type { RunTool } from "../../exec/run.ts";
import type { Producer } from "../../queue/producer.ts";
import type { AssetService, ReleaseService, SchematicService } from "../contracts.ts";
import { bootAndJudge } from "./boot-machine.ts";
import type { BootTestService, OwnPinView, OwnSourceService } from "./contracts.ts";

const FILE = "metal-amd64.iso";
const ALIVE_MS = 30_000;
const NO_QEMU = "QEMU is not installed where the worker runs (package qemu-system-x86)";

export interface BootTestOptions {
  rows: BootTestRepository;
  own: Pick<OwnSourceService, "requirePin">;
  releases: ReleaseService;
  schematics: SchematicService;
  assets: AssetService;
  producer: Producer;
  run: RunTool;
  /** True where QEMU can be started. */
  hasQemu: () => Promise<boolean>;
  /** For the copies of the ISOs that run. */
  scratchDir: string;
  now: () => number;
  onError: (error: unknown) => void;
}

/** The use cases of boot tests; `run` is for workers. */
export function createBootTestService(options: BootTestOptions): BootTestService {
  const { rows, own, producer, now } = options;

  async function lastOf(pinIds: readonly string[]): Promise<BootTest[]> {
    const tests = await rows.lastOf(pinIds);
    return Promise.all(tests.map((test) => withoutStale(options, test)));
  }

  return {
    lastOf,
    async last(pinId) {
      const { id, name } = await own.requirePin(pinId);
      const [test] = await lastOf([id]);
      if (test !== undefined) return test;
      throw notFound(`${name} has not been booted yet`, { hint: "POST to the same address starts a test." });
    },
    async request(pinId, requestId) {
      const pin = await own.requirePin(pinId);
      const version = await versionFor(options, pin);
      await lastOf([pin.id]);
      const test = newTest(pin, version, now());
      if (!(await rows.insert(test)))
        throw refused(`A boot test of ${pin.name} is under way`, "Wait for its end.");
      try {
        await producer.enqueue("extension.boot-test", { v: 1, testId: test.id, requestId });
      } catch (error) {
        await end(options, test.id, failed("The test could not be queued"));
        throw error;
      }
      return test;
    },
    async run(testId, requestId, signal) {
      if (!(await rows.claim(testId, new Date(now())))) return;
      const stopTouching = keepTouching(options, testId);
      try {
        const { verdict, log, ms } = await runTest(options, testId, requestId, signal);
        await end(options, testId, verdict, log, ms);
      } catch (error) {
        options.onError(error);
        const stopped = signal.aborted ? "The worker was stopped" : wordsOf(error);
        await end(options, testId, failed(stopped));
      } finally {
        stopTouching();
      }
    },
  };
}

function newTest(pin: OwnPinView, version: string, now: number): BootTest {
  const at = new Date(now);
  return {
    ...{ id: newBuildId(now), pinId: pin.id, digest: pin.digest, version, schematicId: null },
    ...{ state: "queued", reason: null, log: "", ms: null, createdAt: at, seenAt: at, finishedAt: null },
  };
}

/** Says again and again that the test is alive, until the function it gives is called. */
function keepTouching({ rows, now, onError }: BootTestOptions, testId: string): () => void {
  const alive = setInterval(() => {
    rows.touch(testId, new Date(now())).catch(onError);
  }, ALIVE_MS);
  return () => clearInterval(alive);
}

const failed = (reason: string): Verdict => ({ state: "failed", reason });

const refused = (message: string, hint: string): AppError =>
  new AppError("conflict", message, { hint, retryable: false });

/** What people may read of an error. */
function wordsOf(error: unknown): string {
  if (!(error instanceof AppError)) return "The test ended with an error that is in the worker's log";
  const { hint, details } = error.extra;
  const tail =
    typeof details?.tail === "string" && details.tail !== "" ? `: ${details.tail.slice(-500)}` : "";
  return `${error.message}${tail}${hint === undefined ? "" : `. ${hint}`}`;
}

const end = (options: BootTestOptions, id: string, verdict: Verdict, log = "", ms: number | null = null) =>
  options.rows.finish(id, { ...verdict, log, ms, at: new Date(options.now()) });

async function withoutStale(options: BootTestOptions, test: BootTest): Promise<BootTest> {
  const reason = staleReason(test, options.now());
  if (reason === null) return test;
  await end(options, test.id, failed(reason));
  return (await options.rows.find(test.id)) ?? test;
}

/** The newest release that gets this very image; conflict when it cannot be booted. */
async function versionFor({ releases }: BootTestOptions, pin: OwnPinView): Promise<string> {
  if (pin.subject !== "extension")
    throw refused(`${pin.name} is an overlay`, "Boot tests are for extensions.");
  if (pin.state !== "adopted") throw refused(`${pin.name} ${pin.tag} is not in use`, "Adopt it first.");
  if (!pin.platforms.includes("amd64"))
    throw refused(`${pin.name} is not for amd64`, "Boot tests run on an amd64 machine.");
  const version = newestCovered(pin, await releases.versions());
  if (version === null)
    throw refused(`No release that is listed here gets ${pin.name}`, "Look at its Talos versions.");
  await requireThere(releases, pin, version);
  return version;
}

/** conflict when the release gets another image under the name, or none. */
async function requireThere(releases: ReleaseService, pin: OwnPinView, version: string): Promise<void> {
  const entries = await releases.extensions(version);
  if (entries.some(({ name, digest }) => name === pin.name && digest === pin.digest)) return;
  throw refused(
    `${version} gets another image as ${pin.name}`,
    "Test that one, or change the Talos versions.",
  );
}

async function runTest(options: BootTestOptions, testId: string, requestId: string, signal: AbortSignal) {
  const { rows, own, releases, assets, run, scratchDir, now } = options;
  const test = await rows.find(testId);
  if (test === null) throw notFound("The test is gone");
  if (!(await options.hasQemu())) return { verdict: failed(NO_QEMU), log: "", ms: null };
  const pin = await own.requirePin(test.pinId);
  await requireThere(releases, pin, test.version);
  const tested = pin.reports.find(({ arch }) => arch === "amd64")?.metadata;
  if (!tested) throw refused(`${pin.name} has no manifest for amd64`, "Upload it again.");
  const schematicId = await makeSchematic(options, pin.name, test);
  const asset = await assets.resolve({ schematicId, version: test.version, path: FILE });
  const ready = await assets.ensure(asset, { requestId, signal });
  await removeLeftovers(options);
  const dir = path.join(scratchDir, testId);
  await mkdir(dir, { recursive: true });
  try {
    const iso = path.join(dir, FILE);
    await pipeline(await assets.open(ready, undefined, signal), createWriteStream(iso), { signal });
    return await bootAndJudge({ iso, tested, signal, run, now });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Releases for machines say nothing on a serial line unless they are told to; the sample release does. */
async function makeSchematic(options: BootTestOptions, name: string, test: BootTest): Promise<string> {
  const { sample } = await options.releases.require(test.version);
  const serial = sample ? {} : { extraKernelArgs: ["console=ttyS0"] };
  const text = JSON.stringify({
    customization: { ...serial, systemExtensions: { officialExtensions: [name] } },
  });
  const { id } = await options.schematics.create(text);
  await options.rows.setSchematic(test.id, id);
  return id;
}

/** Copies that workers which died have left behind. */
async function removeLeftovers({ rows, scratchDir }: BootTestOptions): Promise<void> {
  for (const name of await readdir(scratchDir).catch(() => [])) {
    const owner = await rows.find(name).catch(() => null);
    if (owner?.state !== "running") await rm(path.join(scratchDir, name), { recursive: true, force: true });
  }
}
