/** One build per asset however many ask, cancellation, retries, timeouts, hand-over: on real Postgres and Redis. */
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from "vitest";
import { AppError } from "../../lib/errors/app-error.ts";
import type { ReadyAsset } from "../../lib/services/contracts.ts";
import {
  ledgerOf,
  openWeb,
  openWorker,
  until,
  type Web,
  type WorkerSettings,
  type WorldAddresses,
} from "../fixtures/build-world.ts";
import { fakeAsset, fakeBytes, runsOf } from "../fixtures/fake-plan.ts";
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

async function textOf(asset: ReadyAsset): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of await web.assets.open(asset)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const failureOf = (promise: Promise<unknown>): Promise<AppError> =>
  promise.then(
    () => Promise.reject(new Error("expected a failure")),
    (error: unknown) => {
      expect(error).toBeInstanceOf(AppError);
      return error as AppError;
    },
  );

test("eight requests at two webs and two workers make one build and get the same asset", async () => {
  const second = openWeb(at);
  onTestFinished(second.close);
  await worker();
  await worker({}, { ...at });
  const asset = fakeAsset("dedupe", [{ ms: 200 }, { ms: 100 }]);
  const asked = Array.from({ length: 8 }, (_, i) => (i % 2 ? second : web).assets.ensure(asset, patient()));
  const got = await Promise.all(asked);
  expect(new Set(got.map((one) => one.sha256)).size).toBe(1);
  expect(await textOf(got[0] as ReadyAsset)).toBe(fakeBytes(asset));
  expect(await runsOf(ledgerOf(at), asset.assetKey)).toBe(1);
  const rows = await web.service.list({ limit: 10 });
  expect(rows.map((row) => row.state)).toEqual(["ready"]);
  expect(rows[0]).toMatchObject({ percent: 100, of: 2, attempts: 1, asset: { assetKey: asset.assetKey } });
  expect(rows[0]?.timings.map((timing) => timing.title)).toEqual(["Step 1 of dedupe", "Step 2 of dedupe"]);
});

test("many fast builds asked for by many at once never run twice", async () => {
  await worker({ concurrency: 4 });
  const assets = Array.from({ length: 12 }, (_, i) => fakeAsset(`fast ${i}`, [{}]));
  await Promise.all(
    assets.flatMap((asset) => Array.from({ length: 5 }, () => web.assets.ensure(asset, patient()))),
  );
  for (const asset of assets) expect(await runsOf(ledgerOf(at), asset.assetKey)).toBe(1);
});

test("a ready asset is found without a build, also when its build is forgotten", async () => {
  await worker();
  const asset = fakeAsset("warm", [{}]);
  await web.assets.ensure(asset, patient());
  await web.db.build.deleteMany({});
  await web.assets.ensure(asset, patient());
  expect(await web.service.list({ limit: 10 })).toEqual([]);
});

test("an asset whose object was deleted from the store is built again", async () => {
  await worker();
  const asset = fakeAsset("deleted object", [{}]);
  const first = await web.assets.ensure(asset, patient());
  await web.store.delete(first.storageKey);
  expect((await failureOf(web.assets.open(first))).code).toBe("not_found");
  const again = await web.assets.ensure(asset, patient());
  expect(again.sha256).toBe(first.sha256);
  expect(await runsOf(ledgerOf(at), asset.assetKey)).toBe(2);
});

test("cancelling a running build stops it and tells who waits", async () => {
  await worker();
  const asset = fakeAsset("cancel", [{ ms: 20_000 }]);
  const waiting = failureOf(web.assets.ensure(asset, patient()));
  await until("building", async () => (await web.service.list({ limit: 1 }))[0]?.state === "building");
  const [build] = await web.service.list({ limit: 1 });
  const view = await web.service.cancel(build?.id ?? "");
  expect(view.state).toBe("cancelled");
  expect(await waiting).toMatchObject({ code: "cancelled", message: "the build was cancelled" });
  expect(await failureOf(web.service.cancel(view.id))).toMatchObject({ code: "conflict" });
  const events = web.service.events(view.id, { signal: new AbortController().signal });
  let last = "";
  for await (const event of events) last = event.type;
  expect(last).toBe("done");
});

test("cancelling a queued build works without any worker; a new request starts a new one", async () => {
  const asset = fakeAsset("cancel queued", [{}]);
  const view = await web.assets.start(asset, { requestId: "r" });
  expect((await web.service.cancel(view.id)).state).toBe("cancelled");
  await worker();
  await web.assets.ensure(asset, patient());
  expect((await web.service.list({ limit: 10 })).map((row) => row.state)).toEqual(["ready", "cancelled"]);
});

test("cancelling what does not exist is not_found", async () => {
  for (const id of ["nonsense", "0190a000-0000-7000-8000-000000000000"]) {
    expect((await failureOf(web.service.cancel(id))).code).toBe("not_found");
  }
});

test("a client that leaves after 0.3 s does not lose its build", async () => {
  await worker({ graceMs: 30_000 });
  const asset = fakeAsset("impatient", [{ ms: 3_500 }]);
  const leaving = new AbortController();
  const waiting = failureOf(web.assets.ensure(asset, { requestId: "r", signal: leaving.signal }));
  setTimeout(() => leaving.abort(), 300);
  expect((await waiting).code).toBe("cancelled");
  const [build] = await web.service.list({ limit: 1 });
  await until("ready", async () => (await web.service.find(build?.id ?? ""))?.state === "ready");
});

test("a build nobody waits for is cancelled after the grace period, a detached one is not", async () => {
  await worker({ graceMs: 1_000 });
  const lonely = fakeAsset("lonely", [{ ms: 60_000 }]);
  const detached = fakeAsset("detached", [{ ms: 7_000 }]);
  const leaving = new AbortController();
  const waiting = failureOf(web.assets.ensure(lonely, { requestId: "r", signal: leaving.signal }));
  const started = await web.assets.start(detached, { requestId: "r" });
  await until("building", async () => (await web.service.list({ limit: 9, state: "building" })).length === 2);
  leaving.abort();
  await waiting;
  const find = async () =>
    (await web.service.list({ limit: 9 })).find((row) => row.assetKey === lonely.assetKey);
  await until("cancelled", async () => (await find())?.state === "cancelled");
  expect((await find())?.error).toMatchObject({ code: "cancelled", detail: { reason: "abandoned" } });
  await until("ready", async () => (await web.service.find(started.id))?.state === "ready");
});

test("a queued build nobody waits for is given up too", async () => {
  await worker({ concurrency: 1, graceMs: 600, reconcileMs: 200 });
  await web.assets.start(fakeAsset("keeps the worker busy", [{ ms: 4_000 }]), { requestId: "r" });
  const asset = fakeAsset("queued and left", [{}]);
  const leaving = new AbortController();
  const waiting = failureOf(web.assets.ensure(asset, { requestId: "r", signal: leaving.signal }));
  const find = async () =>
    (await web.service.list({ limit: 9 })).find((row) => row.assetKey === asset.assetKey);
  await until("a waiter", async () => (await find())?.waiters === 1);
  leaving.abort();
  await waiting;
  await until("cancelled", async () => (await find())?.state === "cancelled", 3_000);
  expect(await runsOf(ledgerOf(at), asset.assetKey)).toBe(0);
});

test("what may heal is tried again and becomes ready", async () => {
  await worker();
  const asset = fakeAsset("heals", [{ fail: { code: "upstream_unavailable", times: 1 } }]);
  await web.assets.ensure(asset, patient());
  const [build] = await web.service.list({ limit: 1 });
  expect(build).toMatchObject({ state: "ready", attempts: 2, error: null });
});

test("what cannot heal fails at once, tells the place, and is remembered for a while", async () => {
  await worker();
  const asset = fakeAsset("hopeless", [{}, { fail: { code: "tool_failed" } }]);
  const error = await failureOf(web.assets.ensure(asset, patient()));
  const [build] = await web.service.list({ limit: 1 });
  expect(error).toMatchObject({
    code: "tool_failed",
    message: "told to fail with tool_failed",
    extra: { hint: "this is a test", retryable: false },
  });
  expect(error.extra.details).toMatchObject({
    buildId: build?.id,
    phase: "compress",
    step: "Step 2 of hopeless",
  });
  await failureOf(web.assets.ensure(asset, patient()));
  expect((await web.assets.start(asset, { requestId: "r" })).state).toBe("failed");
  expect(await runsOf(ledgerOf(at), asset.assetKey)).toBe(1);
  // Half a minute later the same request is a new try.
  await web.db.build.updateMany({ data: { finishedAt: new Date(Date.now() - 31_000) } });
  await failureOf(web.assets.ensure(asset, patient()));
  expect(await runsOf(ledgerOf(at), asset.assetKey)).toBe(2);
});

test("attempts are bounded", async () => {
  const asset = fakeAsset("never heals", [{ fail: { code: "upstream_unavailable" } }]);
  const view = await web.assets.start(asset, { requestId: "r" });
  await web.db.build.updateMany({ where: { id: view.id }, data: { attempts: 2, failures: 2 } });
  await worker();
  await until("failed", async () => (await web.service.find(view.id))?.state === "failed");
  const build = await web.service.find(view.id);
  expect(build).toMatchObject({ attempts: 3, error: { code: "upstream_unavailable", retryable: true } });
});

test("a build that takes too long fails as timed_out and is not tried again", async () => {
  await worker({ timeoutMs: 400 });
  const error = await failureOf(web.assets.ensure(fakeAsset("slow", [{ ms: 20_000 }]), patient()));
  expect(error).toMatchObject({ code: "timed_out", status: 504 });
  expect(error.extra.hint).toContain("BUILD_TIMEOUT");
  expect((await web.service.list({ limit: 1 }))[0]?.attempts).toBe(1);
});

test("a worker that is stopped lets short builds finish and hands long ones to the next", async () => {
  const first = await worker({ finishMs: 800 });
  const short = web.assets.ensure(fakeAsset("short", [{ ms: 600 }]), patient());
  const long = web.assets.ensure(fakeAsset("long", [{ ms: 2_500 }]), patient());
  await until("both", async () => (await web.service.list({ limit: 9, state: "building" })).length === 2);
  const before = Date.now();
  await first.stop();
  expect(Date.now() - before).toBeLessThan(3_000);
  await short;
  expect((await web.service.list({ limit: 9, state: "queued" })).map((row) => row.note)).toEqual([
    "handed back by a worker that was stopped",
  ]);
  // Two restarts of workers are no failures: the next hiccup is the first one.
  expect((await web.builds.queued(9)).map((row) => [row.attempts, row.failures])).toEqual([[1, 0]]);
  await worker();
  await long;
});

test("at most so many builds run at once as the worker may run", async () => {
  await worker({ concurrency: 2 });
  const assets = Array.from({ length: 5 }, (_, i) => fakeAsset(`limit ${i}`, [{ ms: 300 }]));
  let most = 0;
  const counting = setInterval(() => {
    void web.db.build.count({ where: { state: "building" } }).then((count) => {
      most = Math.max(most, count);
    });
  }, 30);
  await Promise.all(assets.map((asset) => web.assets.ensure(asset, patient())));
  clearInterval(counting);
  expect(most).toBe(2);
});
