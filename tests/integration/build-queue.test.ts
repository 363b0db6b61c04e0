/** What a queue of real rows says: place and end of a build, trying anew after a failure, which workers are there. */
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { createBuildStatistics } from "../../lib/db/build-statistics.ts";
import { openWorker, type Web, type WorldAddresses } from "../fixtures/build-world.ts";
import { fakeAsset } from "../fixtures/fake-plan.ts";
import { openWorld } from "../fixtures/open-world.ts";

let at: WorldAddresses;
let web: Web;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ at, web, close } = await openWorld());
});

afterAll(() => close());

afterEach(async () => {
  await web.db.build.deleteMany({});
  await web.redis.flushdb();
});

const start = (name: string, path: string, again = false) =>
  web.assets.start({ ...fakeAsset(name, [{}]), path }, { requestId: "r", again });

/** Rows of good builds that took so long. */
async function history(path: string, took: number[]): Promise<void> {
  for (const [index, ms] of took.entries()) {
    const { id } = await start(`${path} ${index}`, path);
    const startedAt = new Date(Date.now() - 60_000);
    const finishedAt = new Date(startedAt.getTime() + ms);
    const timings = [{ title: "one", phase: "fetch", ms, cached: index > 0 }];
    await web.db.build.update({ where: { id }, data: { state: "ready", startedAt, finishedAt, timings } });
  }
}

test("a waiting build knows its place and its usual end by the median of those before it", async () => {
  await history("metal-amd64.iso", [1_000, 3_000, 9_000]);
  const first = await start("first", "metal-amd64.iso");
  const second = await start("second", "metal-amd64.iso");
  const unknown = await start("third", "aws-arm64.raw.xz");
  const forecastOf = async ({ id }: { id: string }) => (await web.service.find(id))?.forecast;
  expect(await forecastOf(first)).toEqual({ position: 1, endsInMs: 3_000 });
  expect(await forecastOf(second)).toEqual({ position: 2, endsInMs: 6_000 });
  expect(await forecastOf(unknown)).toEqual({ position: 3, endsInMs: null });
  await web.presence.say({ name: "somewhere", slots: 4 });
  expect(await forecastOf(second)).toEqual({ position: 2, endsInMs: 3_000 });
  await web.builds.claim(first.id, "somewhere");
  const running = await forecastOf(first);
  expect(running?.position).toBeNull();
  expect(running?.endsInMs).toBeGreaterThan(0);
  expect(running?.endsInMs).toBeLessThanOrEqual(3_000);
  await web.service.cancel(first.id);
  expect(await forecastOf(first)).toBeNull();
});

test("the counts tell what is under way and how the last day went", async () => {
  await history("metal-amd64.iso", [1_000, 3_000]);
  await start("waits", "metal-amd64.iso");
  const old = await start("old", "old");
  const longAgo = new Date(Date.now() - 25 * 3_600_000);
  await web.db.build.update({ where: { id: old.id }, data: { state: "failed", finishedAt: longAgo } });
  const statistics = createBuildStatistics(web.db);
  const none = { building: 0, uploading: 0, failed: 0, cancelled: 0 };
  expect(await statistics.counts(24)).toEqual({ ...none, queued: 1, ready: 2 });
  expect(await statistics.counts(48)).toMatchObject({ failed: 1 });
  expect(await statistics.steps(24)).toEqual({ all: 2, cached: 1 });
});

test("after a failure that would come again only somebody who says so has the work tried anew", async () => {
  const fails = fakeAsset("fails once", [{ fail: { code: "tool_failed", times: 1, retryable: false } }]);
  const worker = await openWorker(at);
  onTestFinished(() => worker.stop());
  const failed = await web.assets.start(fails, { requestId: "r" });
  const stateOf = async (id: string) => (await web.service.find(id))?.state;
  await vi.waitFor(async () => expect(await stateOf(failed.id)).toBe("failed"), 20_000);
  const told = await web.assets.start(fails, { requestId: "r" });
  expect(told).toMatchObject({ id: failed.id, state: "failed" });
  const anew = await web.assets.start(fails, { requestId: "r", again: true });
  expect(anew.id).not.toBe(failed.id);
  await vi.waitFor(async () => expect(await stateOf(anew.id)).toBe("ready"), 20_000);
});

test("workers are there while they say so", async () => {
  const worker = await openWorker(at, { concurrency: 3 });
  expect(await web.presence.look()).toEqual([{ name: worker.name, slots: 3 }]);
  await worker.stop();
  expect(await web.presence.look()).toEqual([]);
});
