/** A real worker process is killed while it makes a real ISO, in one phase after the other; the bytes must not care. */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { readEnvironment } from "../../lib/config/environment.ts";
import { loadConfig } from "../../lib/config/load.ts";
import { createRuntime, type Runtime } from "../../lib/runtime/runtime.ts";
import type { BuildView, ReadyAsset } from "../../lib/services/contracts.ts";
import { ensureSampleRelease, startSampleRegistry } from "../../scripts/sample-release/index.ts";
import type { SampleRegistry } from "../../scripts/sample-release/registry.ts";
import { killHard, temporaryFolder, until } from "../fixtures/build-world.ts";
import { createMigratedDatabase } from "../fixtures/postgres.ts";
import { createTestRedis } from "../fixtures/redis.ts";

const SCHEMATIC = `customization:
  extraKernelArgs: [panic=30]
  systemExtensions:
    officialExtensions: [siderolabs/qemu-guest-agent]
`;

let registry: SampleRegistry;
let expected: string;

beforeAll(async () => {
  const { registryDir } = await ensureSampleRelease();
  registry = await startSampleRegistry({ registryDir });
  const factory = await openFactory();
  await factory.startWorker();
  expected = (await factory.ask()).sha256;
  await factory.close();
}, 400_000);

afterAll(() => registry.stop());

/** Everything of its own: database, Redis, folder. Nothing was fetched or built in it. */
async function openFactory() {
  const { dir, remove } = await temporaryFolder();
  const variables = {
    PATH: process.env.PATH ?? "",
    DATABASE_URL: await createMigratedDatabase(),
    REDIS_URL: (await createTestRedis()).url,
    DATA_DIR: dir,
    SOURCE_REGISTRY: registry.url,
    LOG_LEVEL: "silent",
  };
  const loaded = loadConfig({ ...readEnvironment(), variables });
  if (!loaded.ok) throw new Error(loaded.problems.map((problem) => problem.message).join());
  const runtime = await createRuntime(loaded.config, "web");
  const children: ChildProcess[] = [];
  const startWorker = async () => {
    const args = ["--import", "tsx", "workers/main.ts"];
    const child = spawn(process.execPath, args, { env: { ...process.env, ...variables }, stdio: "ignore" });
    children.push(child);
    return child;
  };
  const close = async () => {
    for (const child of children)
      if (child.exitCode === null && child.signalCode === null) await killHard(child);
    await runtime.close();
    await remove();
  };
  return { dir, runtime, startWorker, ask: () => ask(runtime), close };
}

async function ask({ services }: Runtime): Promise<ReadyAsset> {
  const { id: schematicId } = await services.schematics.create(SCHEMATIC);
  const asset = await services.assets.resolve({ schematicId, version: "v1.13.2", path: "metal-amd64.iso" });
  return services.assets.ensure(asset, { requestId: "test", signal: AbortSignal.timeout(120_000) });
}

async function hashOfServed({ services }: Runtime, asset: ReadyAsset): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of await services.assets.open(asset)) hash.update(chunk);
  return hash.digest("hex");
}

/** Resolves as soon as row or events show the phase, whichever is first. */
async function untilPhase({ services }: Runtime, phase: string): Promise<void> {
  const seen = new Set<unknown>();
  const find = async (): Promise<BuildView | undefined> => (await services.builds.list({ limit: 1 }))[0];
  await until("a build", async () => (await find()) !== undefined);
  const leaving = new AbortController();
  const follow = async () => {
    const events = services.builds.events((await find())?.id ?? "", { signal: leaving.signal });
    for await (const { data } of events) seen.add(data.phase).add(data.state);
  };
  const following = follow();
  await until(
    phase,
    async () => {
      const build = await find();
      if (build?.state === "failed") throw new Error(build.error?.message);
      return seen.has(phase) || build?.state === phase || build?.phase === phase;
    },
    60_000,
  );
  leaving.abort();
  await following;
}

test.each(["fetch", "extensions", "iso", "uploading"])("killed in phase %s", async (phase) => {
  const factory = await openFactory();
  onTestFinished(factory.close);
  const doomed = await factory.startWorker();
  const waiting = factory.ask();
  waiting.catch(() => undefined);
  const look = async () => (await factory.runtime.services.builds.list({ limit: 1 }))[0];
  await untilPhase(factory.runtime, phase);
  await killHard(doomed);
  const interrupted = await look();
  expect(interrupted?.asset).toBeNull();
  await factory.startWorker();
  const asset = await waiting;
  expect(asset.sha256).toBe(expected);
  expect(await hashOfServed(factory.runtime, asset)).toBe(expected);
  expect(await look()).toMatchObject({ id: interrupted?.id, state: "ready", attempts: 2 });
  await until("clean scratch", async () => (await readdir(path.join(factory.dir, "scratch"))).length === 0);
});
