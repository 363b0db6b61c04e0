/** The question to the source before the first file of a release: when it is asked, and what its answers lead to. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createFirstUse } from "../../../../lib/services/assets/first-use.ts";
import type { ResolvedAsset } from "../../../../lib/services/contracts.ts";
import {
  type ClosableReleaseService,
  createReleaseService,
} from "../../../../lib/services/releases/releases.ts";
import { fakeAsset } from "../../../fixtures/fake-plan.ts";
import { FakeRegistry } from "../../../fixtures/fake-registry.ts";
import { memoryRepository, pushRelease, sourceFor } from "../../../fixtures/fake-source.ts";
import { failure, openSource, removeScratch } from "../../../fixtures/source-images.ts";

let fake: FakeRegistry;
let releases: ClosableReleaseService;
const made = new Set<string>();

beforeAll(async () => {
  fake = await FakeRegistry.start();
});
afterEach(async () => {
  await releases.close();
  made.clear();
  fake.reset();
  await removeScratch();
});
afterAll(() => fake.stop());

/** A factory that has just listed these releases, whole. */
async function listed(...versions: string[]) {
  for (const version of versions) await pushRelease(fake, version);
  const retry = { attempts: 2, baseDelayMs: 1, maxDelayMs: 1, maxRetryAfterMs: 1 };
  const { images } = await openSource(fake.url, { retry });
  const { repository } = memoryRepository();
  const log = { info: () => undefined, warn: () => undefined };
  const source = sourceFor(fake, { refreshMs: 3_600_000 });
  releases = createReleaseService({ images, repository, source, log });
  expect(await releases.versions()).toEqual(versions);
  await releases.idle();
  fake.seen.length = 0;
  return createFirstUse({ releases, builds: { hasReady: async (version) => made.has(version) } });
}

const assetOf = (version: string, more: Partial<ResolvedAsset> = {}): ResolvedAsset => ({
  ...fakeAsset("a file", []),
  version,
  ...more,
});
const asked = () => fake.seen.map(({ url }) => url).filter((url) => url.includes("/manifests/v"));

test("a release that nothing was made of is asked about once", async () => {
  const mayMake = await listed("v1.12.0", "v1.13.0");
  await mayMake(assetOf("v1.13.0"));
  expect(asked()).toContain("/v2/siderolabs/imager/manifests/v1.13.0");
  expect(asked().every((url) => url.endsWith("/v1.13.0"))).toBe(true);
  const first = asked().length;
  await mayMake(assetOf("v1.13.0"));
  expect(asked()).toHaveLength(first);
});

test("while the source is away its first file is refused; files of others, and of locks, are made", async () => {
  const mayMake = await listed("v1.12.0", "v1.13.0");
  made.add("v1.12.0");
  fake.switches.down = true;
  const error = await failure(mayMake(assetOf("v1.13.0")));
  expect(error.code).toBe("upstream_unavailable");
  expect(error.message).toMatch(/^cannot fetch siderolabs\/\S+:v1\.13\.0: /);
  expect(error.extra.hint).toContain("before the first file of a release");
  expect(error.extra.retryAfterSeconds).toBeGreaterThan(0);
  await mayMake(assetOf("v1.12.0"));
  await mayMake(assetOf("v1.13.0", { lockId: "0".repeat(64) }));
  fake.switches.down = false;
  await mayMake(assetOf("v1.13.0"));
});

test("a tag that was moved since the list was read is told, and the next request gets what it means now", async () => {
  const mayMake = await listed("v1.13.0");
  const before = await releases.require("v1.13.0");
  const { imager } = await pushRelease(fake, "v1.13.0", { seed: "pushed again" });
  const error = await failure(mayMake(assetOf("v1.13.0")));
  expect(error.message).toBe("the source has just changed release v1.13.0");
  expect(error.extra.retryAfterSeconds).toBe(1);
  const after = await releases.require("v1.13.0");
  expect([before.imager.digest === imager, after.imager.digest]).toEqual([false, imager]);
  await mayMake(assetOf("v1.13.0"));
});

test("a tag that was taken back is not available any more", async () => {
  const mayMake = await listed("v1.13.0");
  fake.repository("siderolabs/imager").tags.delete("v1.13.0");
  const error = await failure(mayMake(assetOf("v1.13.0")));
  expect([error.code, error.extra.hint]).toEqual(["not_found", "The source lacks siderolabs/imager:v1.13.0"]);
});
