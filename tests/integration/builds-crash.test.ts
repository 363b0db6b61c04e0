/** What survives what: Redis lost, workers killed in every phase, silent workers, events after the end. */
import type { ChildProcess } from "node:child_process";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { readBuildLog } from "../../lib/services/builds/log.ts";
import type { BuildEvent, BuildView } from "../../lib/services/contracts.ts";
import {
  killHard,
  ledgerOf,
  openWeb,
  openWorker,
  spawnWorker,
  temporaryFolder,
  until,
  type Web,
  type WorkerSettings,
  type WorldAddresses,
} from "../fixtures/build-world.ts";
import { fakeAsset, runsOf } from "../fixtures/fake-plan.ts";
import { createMigratedDatabase } from "../fixtures/postgres.ts";
import { startRedis } from "../fixtures/shared-servers.ts";

let at: WorldAddresses;
let web: Web;
let redis: Awaited<ReturnType<typeof startRedis>>;
let removeFolder: () => Promise<void>;

beforeAll(async () => {
  const { dir, remove } = await temporaryFolder();
  removeFolder = remove;
  redis = await startRedis(dir);
  at = { databaseUrl: await createMigratedDatabase(), redisUrl: redis.url, prefix: "crash", dataDir: dir };
  web = openWeb(at);
});

afterAll(async () => {
  await web.close();
  await redis.stop();
  await removeFolder();
});

beforeEach(async () => {
  await web.db.build.deleteMany({});
  await web.redis.flushall();
});

const patient = () => ({ requestId: "req-1", signal: new AbortController().signal });
const start = (name: string, steps: Parameters<typeof fakeAsset>[1]) =>
  web.assets.start(fakeAsset(name, steps), { requestId: "r" });
const look = async (id: string): Promise<BuildView> => {
  const build = await web.service.find(id);
  if (build === null) throw new Error("the build is gone");
  return build;
};
const untilState = (id: string, state: string, limitMs?: number) =>
  until(state, async () => (await look(id)).state === state, limitMs);

async function worker(settings: WorkerSettings = {}): Promise<void> {
  const opened = await openWorker(at, settings);
  onTestFinished(opened.stop);
}

async function child(settings: WorkerSettings = {}): Promise<ChildProcess> {
  const spawned = await spawnWorker(at, settings);
  onTestFinished(() => {
    spawned.kill("SIGKILL");
  });
  return spawned;
}

async function untilLogged(id: string): Promise<void> {
  await until("a whole log", async () => {
    let last = "";
    for await (const event of readBuildLog(web.store, id, "0-0")) last = event.type;
    return last === "done";
  });
}

async function collect(id: string, lastEventId?: string): Promise<BuildEvent[]> {
  const events: BuildEvent[] = [];
  const options = lastEventId === undefined ? {} : { lastEventId };
  for await (const event of web.service.events(id, { ...options, signal: AbortSignal.timeout(20_000) })) {
    events.push(event);
  }
  return events;
}

test("a Redis that forgot everything loses no queued build", async () => {
  const build = await start("flushed", [{}]);
  await web.redis.flushall();
  await worker();
  await untilState(build.id, "ready");
});

test("a Redis that forgets everything during a build loses neither build nor waiter", async () => {
  await worker({ graceMs: 2_000 });
  const waiting = web.assets.ensure(fakeAsset("flushed while building", [{ ms: 4_000 }]), patient());
  await until("building", async () => (await web.service.list({ limit: 1 }))[0]?.state === "building");
  await web.redis.flushall();
  await waiting;
});

test("a Redis that is away for a while loses neither builds nor waiters", async () => {
  await worker();
  const first = web.assets.ensure(fakeAsset("redis away", [{ ms: 3_000 }]), patient());
  await until("building", async () => (await web.service.list({ limit: 1 }))[0]?.state === "building");
  await redis.stop();
  const before = Date.now();
  const started = await start("started while redis is away", [{}]);
  expect(Date.now() - before).toBeLessThan(3_000);
  expect((await web.service.cancel(started.id)).state).toBe("cancelled");
  const second = web.assets.ensure(fakeAsset("asked while redis is away", [{}]), patient());
  await first;
  redis = await startRedis(at.dataDir, { port: redis.port });
  await second;
});

test.each([
  ["building", { slowUploadMs: 0 }, [{ ms: 1_500, bytes: 5_000 }, { ms: 1_500 }]],
  ["uploading", { slowUploadMs: 3_000 }, [{ bytes: 5_000 }]],
] as const)(
  "a worker killed while %s leaves no half asset, and the next worker finishes",
  async (state, settings, steps) => {
    const asset = fakeAsset(`killed while ${state}`, [...steps]);
    const doomed = await child({ ...settings, staleMs: 2_000 });
    const waiting = web.assets.ensure(asset, patient());
    await until(state, async () => (await web.service.list({ limit: 1 }))[0]?.state === state);
    await until("run", async () => (await runsOf(ledgerOf(at), asset.assetKey)) === 1);
    await killHard(doomed);
    expect(await web.assets.findReady(asset.assetKey)).toBeNull();
    const [build] = await web.service.list({ limit: 1 });
    await child({ staleMs: 2_000 });
    const ready = await waiting;
    expect(ready.sizeBytes).toBe(
      steps.reduce((sum, step) => sum + ("bytes" in step ? step.bytes : 1_000), 0),
    );
    expect(await look(build?.id ?? "")).toMatchObject({ state: "ready", attempts: 2 });
    expect(await runsOf(ledgerOf(at), asset.assetKey)).toBe(2);
    await until("clean scratch", async () => (await readdir(path.join(at.dataDir, "scratch"))).length === 0);
  },
);

test("a build whose workers die again and again fails and says so", async () => {
  const build = await start("kills workers", [{ ms: 30_000 }]);
  await web.db.build.updateMany({ data: { attempts: 2, failures: 2 } });
  const doomed = await child();
  await untilState(build.id, "building");
  await killHard(doomed);
  await worker();
  await untilState(build.id, "failed");
  expect((await look(build.id)).error).toMatchObject({
    code: "build_failed",
    message: "the worker died while it made this file; it was try 3 of 3",
  });
});

test("a worker of another machine that fell silent loses its build, and cannot write over the next attempt", async () => {
  const build = await start("silent", [{}]);
  const claimed = await web.builds.claim(build.id, "elsewhere/scope/1/nonce");
  const claim = { id: build.id, worker: "elsewhere/scope/1/nonce", attempt: claimed?.attempts ?? 0 };
  await worker({ staleMs: 1_500 });
  await new Promise((resolve) => setTimeout(resolve, 700));
  expect((await look(build.id)).state).toBe("building");
  await untilState(build.id, "ready");
  expect((await look(build.id)).attempts).toBe(2);
  const row = { phase: null, step: 0, steps: 0, percent: 0, note: null, timings: [] };
  expect(await web.builds.heartbeat(claim, row)).toBeNull();
  expect(await web.builds.move(build.id, "fail", { claim })).toBe(false);
});

test("events are the same live, from the stream and from the stored log, and continue after Last-Event-ID", async () => {
  const build = await start("events", [{ ms: 100 }, { ms: 100 }]);
  const live = collect(build.id);
  await worker();
  const events = await live;
  expect(events[0]).toMatchObject({ type: "state", data: { state: "queued" } });
  expect(events.at(-1)).toMatchObject({ type: "done", data: { state: "ready" } });
  expect(events.filter((event) => event.type === "phase")).toHaveLength(2);
  expect(events.filter((event) => event.type === "log").map((event) => event.data.line)).toEqual([
    "begin Step 1 of events",
    "begin Step 2 of events",
  ]);
  expect(events.map((event) => event.id)).toEqual([...new Set(events.map((event) => event.id))]);
  await untilLogged(build.id);
  expect(await collect(build.id)).toEqual(events);
  await web.redis.flushall();
  expect(await collect(build.id)).toEqual(events);
  const middle = events[4];
  expect(await collect(build.id, middle?.id)).toEqual(events.slice(5));
  await web.store.delete(`logs/${build.id}.ndjson`);
  expect((await collect(build.id)).map((event) => event.type)).toEqual(["done"]);
});

test("events of an attempt that failed are kept with those of the next", async () => {
  await worker();
  const build = await start("two attempts", [{ fail: { code: "upstream_unavailable", times: 1 } }]);
  const events = await collect(build.id);
  const states = events.filter((event) => event.type === "state").map((event) => event.data.state);
  expect(states).toEqual(["queued", "building", "queued", "building", "uploading"]);
  await untilLogged(build.id);
  await web.redis.flushall();
  expect(await collect(build.id)).toEqual(events);
});

test("leaving a live stream ends it at once", async () => {
  const build = await start("left", [{}]);
  const leaving = new AbortController();
  setTimeout(() => leaving.abort(), 200);
  const types: string[] = [];
  for await (const event of web.service.events(build.id, { signal: leaving.signal })) types.push(event.type);
  expect(types).toEqual(["state"]);
});
