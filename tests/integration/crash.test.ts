/**
 * Proves that kill -9 of web, Redis (with and without its data), Postgres and the supervisor loses nothing: no part of a
 * file is taken for the whole, the running build ends, every schematic is there. (Workers: builds-crash, builds-real.)
 */
import { createHash, randomUUID } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chunksOf, postSchematic } from "../../scripts/demo/client.ts";
import { findFreePort } from "../../scripts/embedded/free-port.ts";
import { ensureSampleRelease, startSampleRegistry } from "../../scripts/sample-release/index.ts";
import type { SampleRegistry } from "../../scripts/sample-release/registry.ts";
import { until } from "../fixtures/build-world.ts";
import {
  findDamage,
  type KillableFactory,
  type PartName,
  readBuild,
  sha256Of,
  startBuild,
  startKillableFactory,
  untilEnded,
} from "../fixtures/killable-factory.ts";

const schematics = new Set<string>();
let dataDir: string;
let registry: SampleRegistry;
let port: number;
let factory: KillableFactory;

const start = () => startKillableFactory({ dataDir, port, source: registry.url });

beforeAll(async () => {
  const { registryDir } = await ensureSampleRelease();
  registry = await startSampleRegistry({ registryDir });
  dataDir = await mkdtemp(join(tmpdir(), "casthouse-crash-"));
  port = await findFreePort();
  factory = await start();
  // Parts and inputs are there: what is killed below are builds, not fetches.
  await untilEnded(factory.url, await startBuild(factory.url, await coldDisk()));
}, 300_000);

afterAll(async () => {
  await factory?.stop();
  await registry?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

async function schematic(): Promise<string> {
  const id = await postSchematic(factory.url, `customization: {extraKernelArgs: [test=${randomUUID()}]}\n`);
  schematics.add(id);
  return id;
}

/** A disk image nobody asked for yet; its build takes a few seconds. */
const coldDisk = async () => `/image/${await schematic()}/v1.13.2/metal-amd64.raw.xz`;

/** A build that is being made at this moment. */
async function runningBuild(): Promise<string> {
  const location = await startBuild(factory.url, await coldDisk());
  await until("building", async () => (await readBuild(factory.url, location)).state !== "queued");
  const { state } = await readBuild(factory.url, location);
  expect(state).toBe("building");
  return location;
}

async function expectWhole(): Promise<void> {
  expect(await findDamage(factory.url, schematics)).toEqual([]);
  // Everything below .tmp belongs to a write that is going on or was cut; none is under a name that is served.
  await until("no half written object", async () => {
    const left = await readdir(join(dataDir, "objects", ".tmp")).catch(() => []);
    return left.length === 0;
  });
}

/** Reads until the end or the cut. */
async function readAll(reply: Response): Promise<{ bytes: Buffer; cut: boolean }> {
  const chunks: Uint8Array[] = [];
  try {
    if (reply.body) for await (const chunk of chunksOf(reply.body)) chunks.push(chunk);
    return { bytes: Buffer.concat(chunks), cut: false };
  } catch {
    return { bytes: Buffer.concat(chunks), cut: true };
  }
}

test("web killed during a download: the client sees the cut and resumes by range", async () => {
  const path = `/image/${await schematic()}/v1.13.2/metal-amd64.iso`;
  const whole = await sha256Of(factory.url + path);
  const location = await startBuild(factory.url, await coldDisk());
  const reply = await fetch(factory.url + path);
  const size = Number(reply.headers.get("content-length"));
  await factory.kill("web");
  const first = await readAll(reply);
  expect(first.cut).toBe(true);
  expect(first.bytes.length).toBeLessThan(size);
  await factory.untilBack("web");
  const rest = await fetch(factory.url + path, {
    headers: { Range: `bytes=${first.bytes.length}-`, "If-Range": reply.headers.get("etag") ?? "" },
  });
  expect(rest.status).toBe(206);
  expect(rest.headers.get("content-range")).toBe(`bytes ${first.bytes.length}-${size - 1}/${size}`);
  const second = await readAll(rest);
  const joined = createHash("sha256").update(first.bytes).update(second.bytes).digest("hex");
  expect({ cut: second.cut, joined }).toEqual({ cut: false, joined: whole });
  expect(await untilEnded(factory.url, location)).toMatchObject({ state: "ready", attempts: 1 });
  await expectWhole();
});

test("Redis killed during a build, its data kept: build and waiting client get their end", async () => {
  const location = await runningBuild();
  const { schematicId, version, path } = await readBuild(factory.url, location);
  const waiting = sha256Of(`${factory.url}/image/${schematicId}/${version}/${path}`);
  await factory.kill("Redis");
  await factory.untilBack("Redis");
  const build = await untilEnded(factory.url, location);
  expect(build).toMatchObject({ state: "ready", error: null });
  expect(await waiting).toBe(build.asset?.sha256);
  await expectWhole();
});

test("Redis killed and its data lost: running and queued builds still end", async () => {
  const location = await runningBuild();
  const queued = await Promise.all([0, 1, 2].map(async () => startBuild(factory.url, await coldDisk())));
  await factory.kill("Redis");
  const folder = join(dataDir, "redis");
  for (const data of ["appendonlydir", "dump.rdb"])
    await rm(join(folder, data), { recursive: true, force: true });
  await factory.untilBack("Redis");
  for (const one of [location, ...queued])
    expect(await untilEnded(factory.url, one)).toMatchObject({ state: "ready", error: null });
  await expectWhole();
});

test("Postgres killed during a build: the end is written when it is back", async () => {
  const location = await runningBuild();
  await factory.kill("Postgres");
  const meanwhile = await fetch(`${factory.url}/schematics`, { method: "POST", body: "{}" });
  expect([201, 503]).toContain(meanwhile.status);
  expect(await meanwhile.text()).toMatch(/^\{"id":|request [0-9a-f-]{36}/);
  await factory.untilBack("Postgres");
  expect(await untilEnded(factory.url, location)).toMatchObject({ state: "ready", error: null });
  await expectWhole();
});

test("supervisor killed during a build: the next start cleans up and the build is finished", async () => {
  const location = await runningBuild();
  const doomed = factory;
  await doomed.kill("supervisor");
  factory = await start();
  const build = await untilEnded(factory.url, location);
  expect(build).toMatchObject({ state: "ready", error: null });
  await expectWhole();
  const running: PartName[] = ["web", "worker", "Redis", "Postgres"];
  expect((await readdir(join(dataDir, "run"))).sort()).toEqual(
    [...running, "supervisor"].map((name) => `${name}.json`).sort(),
  );
});
