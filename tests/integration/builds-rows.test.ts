/** What stands in the row of a build and what others make of it: secrets, races, ends that nobody expects. */
import { mkdir, readdir, rm, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { createAssetRepository } from "../../lib/db/asset-repository.ts";
import { newBuildId } from "../../lib/db/build-id.ts";
import { AppError } from "../../lib/errors/app-error.ts";
import { createBuildService } from "../../lib/services/builds/builds.ts";
import { IdleWatch } from "../../lib/services/builds/idle-watch.ts";
import { cleanScratch, type ReconcilingOptions, reconcile } from "../../lib/services/builds/reconciling.ts";
import { createBuildStarting } from "../../lib/services/builds/starting.ts";
import {
  ledgerOf,
  openWorker,
  temporaryFolder,
  type Web,
  type WorkerSettings,
  type WorldAddresses,
} from "../fixtures/build-world.ts";
import { fakeAsset, runsOf } from "../fixtures/fake-plan.ts";
import { openWorld } from "../fixtures/open-world.ts";

let at: WorldAddresses;
let web: Web;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ at, web, close } = await openWorld());
});

afterAll(() => close());

afterEach(async () => {
  // A worker of the next test must not find builds of this one.
  await web.db.build.deleteMany({});
  await web.redis.flushdb();
});

const patient = () => ({ requestId: "req-1", signal: new AbortController().signal });

async function worker(settings: WorkerSettings = {}, where = at) {
  const opened = await openWorker(where, settings);
  let stopped = false;
  const stop = async () => {
    if (!stopped) await opened.stop();
    stopped = true;
  };
  onTestFinished(stop);
  return { name: opened.name, stop };
}

const failureOf = (promise: Promise<unknown>): Promise<AppError> =>
  promise.then(
    () => Promise.reject(new Error("expected a failure")),
    (error: unknown) => {
      expect(error).toBeInstanceOf(AppError);
      return error as AppError;
    },
  );

test("a row keeps its plan, which may hold secrets, only until the build is over, and only a claim reads it", async () => {
  const asset = fakeAsset("secret plan", [{}]);
  const started = await web.assets.start(asset, { requestId: "r" });
  const plans = () => web.db.$queryRaw<{ has: boolean }[]>`SELECT plan IS NOT NULL AS has FROM build`;
  expect(await plans()).toEqual([{ has: true }]);
  const read = [
    await web.builds.find(started.id),
    await web.builds.findRunning(asset.assetKey),
    ...(await web.builds.list({ limit: 9 })),
    ...(await web.builds.queued(9)),
  ];
  expect(read).toHaveLength(4);
  for (const build of read) expect(build).not.toHaveProperty("plan");
  await worker();
  await web.assets.ensure(asset, patient());
  expect(await plans()).toEqual([{ has: false }]);
  const left = await web.assets.start(fakeAsset("cancelled plan", [{}]), { requestId: "r" });
  await web.service.cancel(left.id);
  expect(await plans()).toEqual([{ has: false }, { has: false }]);
});

test("a worker that cannot make its scratch folder says so at once", async () => {
  const broken = await temporaryFolder();
  onTestFinished(broken.remove);
  const opened = await openWorker({ ...at, dataDir: broken.dir });
  onTestFinished(opened.stop);
  await rm(path.join(broken.dir, "scratch"), { recursive: true });
  await writeFile(path.join(broken.dir, "scratch"), "in the way");
  const error = await failureOf(web.assets.ensure(fakeAsset("no scratch", [{}]), patient()));
  expect(error.extra.details).toMatchObject({ cause: expect.stringContaining("ENOTDIR") });
  expect((await web.service.list({ limit: 1 }))[0]).toMatchObject({ state: "failed", attempts: 1 });
});

test("a slow look at lost bytes does not forget what was built again meanwhile", async () => {
  await worker();
  const asset = fakeAsset("rebuilt", [{}]);
  const first = await web.assets.ensure(asset, patient());
  await web.store.delete(first.storageKey);
  await failureOf(web.assets.open(first));
  const second = await web.assets.ensure(asset, patient());
  expect(second.storageKey).not.toBe(first.storageKey);
  await web.assets.discard(first);
  expect(await web.assets.findReady(asset.assetKey)).toMatchObject({ storageKey: second.storageKey });
});

test("starting what is ready answers ready, whatever became of newer builds or of its own row", async () => {
  await worker();
  const asset = fakeAsset("ready and asked for", [{}]);
  const start = () => web.assets.start(asset, { requestId: "r" });
  await web.assets.ensure(asset, patient());
  const [made] = await web.service.list({ limit: 1 });
  const newer = { ...asset, id: newBuildId(), plan: {}, steps: 1, detached: false, requestId: "r" };
  const { profile: _profile, ...row } = newer;
  await web.builds.insert(row);
  await web.service.cancel(row.id);
  expect(await start()).toMatchObject({ id: made?.id, state: "ready" });
  await web.db.build.deleteMany({});
  const recorded = await start();
  expect(recorded).toMatchObject({ state: "ready", percent: 100, asset: { assetKey: asset.assetKey } });
  expect((await start()).id).toBe(recorded.id);
  expect(await web.service.list({ limit: 9 })).toHaveLength(1);
  expect(await runsOf(ledgerOf(at), asset.assetKey)).toBe(1);
});

test("a build that became needless while it was queued says so, and who joined it gets the file", async () => {
  await worker();
  const asset = fakeAsset("made meanwhile", [{}]);
  const made = await web.assets.ensure(asset, patient());
  // The caller looked before the file was there, and inserts after its build had ended.
  const ready = { ...web.ready, find: async () => made };
  const { builds, producer, streams } = web;
  const log = pino({ level: "silent" });
  const starting = createBuildStarting({ builds, producer, streams, log, now: Date.now, ready });
  const given = await starting.startOrJoin(asset, { requestId: "r", detached: true });
  expect(given.state).toBe("ready");
  const states = (await web.service.list({ limit: 9 })).map((row) => [row.state, row.error?.detail]);
  expect(states).toEqual([
    ["cancelled", { reason: "already_made" }],
    ["ready", undefined],
  ]);
});

test("scratch of a build that is claimed while it is looked for stays", async () => {
  const folder = await temporaryFolder();
  onTestFinished(folder.remove);
  const view = await web.assets.start(fakeAsset("claimed just now", [{}]), { requestId: "r" });
  const own = path.join(folder.dir, `${view.id}-1`);
  await mkdir(path.join(folder.dir, "old-1"));
  const builds = {
    ...web.builds,
    async active() {
      const before = await web.builds.active();
      await web.builds.claim(view.id, "another worker");
      await mkdir(own);
      return before;
    },
  };
  expect(await cleanScratch(builds, folder.dir)).toBe(1);
  expect(await readdir(folder.dir)).toEqual([`${view.id}-1`]);
});

test("a worker forgets queued builds that others took", async () => {
  const { builds, producer, streams, signals, waiters } = web;
  const idle = new IdleWatch(waiters, 60_000, Date.now);
  const identity = { name: "here", isDead: () => false };
  const log = pino({ level: "silent" });
  const options: ReconcilingOptions = {
    ...{ builds, producer, streams, signals, idle, identity, log },
    staleMs: 60_000,
  };
  const build = await web.builds.insert({
    ...{ id: newBuildId(), assetKey: "e".repeat(64), schematicId: "f".repeat(64), version: "v1.13.2" },
    ...{ path: "p", plan: {}, steps: 1, detached: false, requestId: "r" },
  });
  await reconcile(options);
  expect(idle.size).toBe(1);
  await builds.claim(build?.id ?? "", "elsewhere");
  await builds.move(build?.id ?? "", "cancel", {});
  await reconcile(options);
  expect(idle.size).toBe(0);
});

test("a list asks each server once, and running builds are found by their assets", async () => {
  const [queued, other] = [fakeAsset("list queued", [{}]), fakeAsset("list other", [{}])];
  const view = await web.assets.start(queued, { requestId: "r" });
  await web.assets.start(other, { requestId: "r" });
  const leave = [web.waiters.join(view.id), web.waiters.join(view.id)];
  onTestFinished(() => {
    for (const one of leave) one();
  });
  await vi.waitFor(async () => expect(await web.waiters.count([view.id])).toEqual([2]));
  const asked: string[] = [];
  const noted = <T extends object>(name: string, part: T) =>
    new Proxy(part, {
      get(target, method) {
        const value = Reflect.get(target, method);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          asked.push(`${name}.${String(method)}`);
          return value.apply(target, args);
        };
      },
    });
  const { builds, streams, signals, store, producer, waiters } = web;
  const service = createBuildService({
    ...{ streams, signals, store, producer, onError: () => undefined },
    builds: noted("builds", builds),
    waiters: noted("waiters", waiters),
    assets: noted("assets", createAssetRepository(web.db)),
    forecast: () => Promise.reject(new Error("lists do not forecast")),
  });
  expect((await service.list({ limit: 9 })).map((row) => row.waiters)).toEqual([0, 2]);
  expect(asked.sort()).toEqual(["assets.findMany", "builds.list", "waiters.count"]);
  const found = await service.findRunning([queued.assetKey, "0".repeat(64)]);
  expect(found.map((row) => [row.id, row.waiters])).toEqual([[view.id, 2]]);
});

test("a worker that starts removes what killed writers left in a directory store", async () => {
  const temporary = path.join(at.dataDir, "objects", ".tmp");
  await mkdir(temporary, { recursive: true });
  await writeFile(path.join(temporary, "left"), "half");
  await writeFile(path.join(temporary, "fresh"), "being written");
  const twoDaysAgo = new Date(Date.now() - 48 * 3_600_000);
  await utimes(path.join(temporary, "left"), twoDaysAgo, twoDaysAgo);
  await worker();
  expect(await readdir(temporary)).toEqual(["fresh"]);
});
