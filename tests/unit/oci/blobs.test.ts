import { randomBytes } from "node:crypto";
import { readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { SecondLevel } from "../../../lib/oci/blob-cache.ts";
import { BlobCache } from "../../../lib/oci/blob-cache.ts";
import { evictBlobs, markUsed } from "../../../lib/oci/blob-eviction.ts";
import { SingleFlight } from "../../../lib/oci/single-flight.ts";
import type { Descriptor } from "../../../lib/oci/types.ts";
import { makeLayer, sha256 } from "../../fixtures/fake-image.ts";
import { FakeRegistry } from "../../fixtures/fake-registry.ts";
import {
  failure,
  memoryLevel,
  openSource,
  removeScratch,
  scratchFolder,
} from "../../fixtures/source-images.ts";

const REPOSITORY = "siderolabs/imager";
let fake: FakeRegistry;
beforeAll(async () => {
  fake = await FakeRegistry.start();
});
afterEach(async () => {
  fake.reset();
  await removeScratch();
});
afterAll(() => fake.stop());

function pushBlob(bytes: Buffer): Descriptor {
  fake.repository(REPOSITORY).blobs.set(sha256(bytes), bytes);
  return { mediaType: "application/octet-stream", digest: sha256(bytes), size: bytes.byteLength };
}

/** Compared by digest: comparing large buffers element by element takes seconds. */
async function expectBytes(path: string, bytes: Buffer): Promise<void> {
  expect(sha256(await readFile(path))).toBe(sha256(bytes));
}

const rangesAsked = () => fake.seen.map((one) => one.headers.range).filter((range) => range !== undefined);

async function leftovers(dir: string): Promise<string[]> {
  return readdir(join(dir, "blobs", "partial"));
}

describe("downloads", () => {
  test("end in blobs/sha256/<hex> and tell how far they are", async () => {
    const bytes = randomBytes(3_000_000);
    const descriptor = pushBlob(bytes);
    const { images, dir } = await openSource(fake.url);
    const seen: number[] = [];
    const path = await images.blob(REPOSITORY, descriptor, undefined, (received, total) => {
      expect(total).toBe(bytes.byteLength);
      seen.push(received);
    });
    expect(path).toBe(join(dir, "blobs", "sha256", descriptor.digest.slice(7)));
    await expectBytes(path, bytes);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(seen.at(-1)).toBe(bytes.byteLength);
    expect(await leftovers(dir)).toEqual([]);
  });

  test.each([false, true])(
    "go on by Range where the connection broke off (redirected: %s)",
    async (redirected) => {
      const bytes = randomBytes(1_000_000);
      const descriptor = pushBlob(bytes);
      fake.switches.redirectBlobs = redirected;
      const match = redirected ? /^storage GET/ : /^GET .*blobs/;
      fake.switches.faults = [
        { match, times: 1, cutAt: 300_000 },
        { match, times: 1, cutAt: 200_000 },
      ];
      const { images } = await openSource(fake.url);
      await expectBytes(await images.blob(REPOSITORY, descriptor), bytes);
      const ranges = [...new Set(rangesAsked())];
      expect(ranges).toEqual(["bytes=300000-", "bytes=500000-"]);
    },
  );

  test("count tries only while no byte comes", async () => {
    const bytes = randomBytes(1_000_000);
    const descriptor = pushBlob(bytes);
    fake.switches.faults = [{ match: /blobs/, times: 9, cutAt: 100_000 }];
    const { images } = await openSource(fake.url);
    await expectBytes(await images.blob(REPOSITORY, descriptor), bytes);
    fake.switches.faults = [{ match: /blobs/, cutAt: 0 }];
    const error = await failure(images.blob(REPOSITORY, pushBlob(randomBytes(1000))));
    expect(error.code).toBe("upstream_unavailable");
    expect(error.message).toContain("the connection broke off");
  });

  test("go on when a connection stays silent", async () => {
    const bytes = randomBytes(500_000);
    const descriptor = pushBlob(bytes);
    fake.switches.faults = [{ match: /blobs/, times: 1, stallAt: 100_000 }];
    const { images } = await openSource(fake.url, { idleTimeoutMs: 100 });
    await expectBytes(await images.blob(REPOSITORY, descriptor), bytes);
    expect(rangesAsked()).toEqual(["bytes=100000-"]);
  });

  test("start over when the registry does not know ranges", async () => {
    const bytes = randomBytes(500_000);
    const descriptor = pushBlob(bytes);
    fake.switches.ranges = false;
    fake.switches.faults = [{ match: /blobs/, times: 1, cutAt: 100_000 }];
    const { images } = await openSource(fake.url);
    await expectBytes(await images.blob(REPOSITORY, descriptor), bytes);
  });

  test("fetch the whole blob once more when the joined parts do not fit together", async () => {
    const bytes = randomBytes(500_000);
    const descriptor = pushBlob(bytes);
    fake.switches.faults = [{ match: /blobs/, times: 1, cutAt: 100_000, body: randomBytes(500_000) }];
    const { images } = await openSource(fake.url);
    await expectBytes(await images.blob(REPOSITORY, descriptor), bytes);
  });

  test("refuse other bytes, more bytes and fewer bytes than the descriptor names, and keep nothing", async () => {
    const descriptor = pushBlob(randomBytes(1000));
    const { images, dir } = await openSource(fake.url);
    fake.switches.faults = [{ match: /blobs/, body: randomBytes(1000) }];
    const wrong = await failure(images.blob(REPOSITORY, descriptor));
    expect(wrong.code).toBe("source_invalid");
    expect(wrong.message).toContain(`${REPOSITORY}@${descriptor.digest}`);
    fake.switches.faults = [{ match: /blobs/, body: randomBytes(1_000_000) }];
    expect((await failure(images.blob(REPOSITORY, descriptor))).code).toBe("too_large");
    fake.switches.faults = [{ match: /blobs/, body: randomBytes(10) }];
    const short = await failure(images.blob(REPOSITORY, descriptor));
    expect(short.code).toBe("upstream_unavailable");
    expect(short.message).toContain("10 of 1000 bytes came");
    expect(await readdir(join(dir, "blobs", "sha256"))).toEqual([]);
    expect(await leftovers(dir)).toEqual([]);
  });

  test("of a blob that is not there are not_found", async () => {
    const descriptor = { mediaType: "x", digest: sha256(Buffer.from("no")), size: 2 };
    fake.repository(REPOSITORY);
    const { images } = await openSource(fake.url);
    expect((await failure(images.blob(REPOSITORY, descriptor))).code).toBe("not_found");
  });
});

describe("one download per digest", () => {
  test("serves all who ask at the same time, across repositories", async () => {
    const bytes = randomBytes(200_000);
    const descriptor = pushBlob(bytes);
    fake.switches.latencyMs = 30;
    const { images } = await openSource(fake.url);
    const paths = await Promise.all(Array.from({ length: 8 }, () => images.blob(REPOSITORY, descriptor)));
    expect(new Set(paths).size).toBe(1);
    expect(fake.count(/blobs/)).toBe(1);
  });

  test("goes on for those who stay and stops when all have left", async () => {
    const bytes = randomBytes(300_000);
    const descriptor = pushBlob(bytes);
    fake.switches.latencyMs = 100;
    const { images, dir } = await openSource(fake.url);
    const leaver = failure(images.blob(REPOSITORY, descriptor, AbortSignal.timeout(20)));
    const stayer = images.blob(REPOSITORY, descriptor);
    expect((await leaver).code).toBe("cancelled");
    await expectBytes(await stayer, bytes);
    const other = pushBlob(randomBytes(1000));
    fake.switches.latencyMs = 0;
    fake.switches.faults = [{ match: /blobs/, stallAt: 10 }];
    expect((await failure(images.blob(REPOSITORY, other, AbortSignal.timeout(100)))).code).toBe("cancelled");
    await expect.poll(() => leftovers(dir)).toEqual([]);
  });

  test("does not keep a failure", async () => {
    const flights = new SingleFlight<number>();
    let runs = 0;
    const work = async () => {
      runs += 1;
      if (runs === 1) throw new Error("first");
      return runs;
    };
    const both = await Promise.allSettled([flights.join("k", work), flights.join("k", work)]);
    expect(both.map((one) => one.status)).toEqual(["rejected", "rejected"]);
    expect(await flights.join("k", work)).toBe(2);
  });
});

describe("the folder", () => {
  test("answers without the registry, also after a restart", async () => {
    const bytes = randomBytes(1000);
    const descriptor = pushBlob(bytes);
    const cacheDir = await scratchFolder();
    await (await openSource(fake.url, { cacheDir })).images.blob(REPOSITORY, descriptor);
    fake.switches.down = true;
    const path = await (await openSource(fake.url, { cacheDir })).images.blob(REPOSITORY, descriptor);
    await expectBytes(path, bytes);
  });

  test("is not believed when a file in it is damaged, at once or later", async () => {
    const bytes = randomBytes(1000);
    const descriptor = pushBlob(bytes);
    const { images } = await openSource(fake.url);
    const path = await images.blob(REPOSITORY, descriptor);
    for (const damage of [randomBytes(1000), randomBytes(999), Buffer.alloc(0)]) {
      await writeFile(path, damage);
      await expectBytes(await images.blob(REPOSITORY, descriptor), bytes);
    }
    expect(fake.count(/blobs/)).toBe(4);
  });

  test("is filled from the shared store first, which is told about new blobs and never trusted", async () => {
    const bytes = randomBytes(1000);
    const descriptor = pushBlob(bytes);
    const { shared, secondLevel } = memoryLevel();
    const warnings: string[] = [];
    const options = { secondLevel, onWarning: (message: string) => warnings.push(message) };
    await (await openSource(fake.url, options)).images.blob(REPOSITORY, descriptor);
    expect([...shared.keys()]).toEqual([descriptor.digest.slice(7)]);
    await (await openSource(fake.url, options)).images.blob(REPOSITORY, descriptor);
    expect(fake.count(/blobs/)).toBe(1);
    shared.set(descriptor.digest.slice(7), randomBytes(1000));
    const path = await (await openSource(fake.url, options)).images.blob(REPOSITORY, descriptor);
    await expectBytes(path, bytes);
    expect(fake.count(/blobs/)).toBe(2);
    const broken: SecondLevel = {
      fetch: () => Promise.reject(new Error("store away")),
      keep: () => Promise.reject(new Error("store away")),
    };
    const again = await openSource(fake.url, { ...options, secondLevel: broken });
    expect((await stat(await again.images.blob(REPOSITORY, descriptor))).size).toBe(1000);
    expect(warnings).toEqual([
      "the shared blob store cannot be read",
      "the shared blob store cannot be written",
    ]);
  });
});

describe("manifests", () => {
  test("are shared by machines through the store, which is never trusted and never asked for much", async () => {
    const layer = await makeLayer([{ name: "x", content: "kernel" }]);
    const image = fake.push(REPOSITORY, "v1.0.0", { layers: [layer], arches: ["amd64"] });
    const { shared, secondLevel, limits } = memoryLevel();
    const readOnAnotherMachine = async () => {
      const { images } = await openSource(fake.url, { secondLevel });
      return (await images.platformManifest(REPOSITORY, image.digest, "amd64")).manifest.layers;
    };
    await readOnAnotherMachine();
    const hexes = image.manifests.map(({ digest }) => digest.slice(7));
    expect([...shared.keys()].sort()).toEqual(hexes.sort());
    fake.switches.down = true;
    expect(await readOnAnotherMachine()).toEqual(image.layers);
    expect(limits).toEqual(new Set([8 * 1024 * 1024]));
    shared.set(image.digest.slice(7), Buffer.from('{"schemaVersion":2}'));
    expect((await failure(readOnAnotherMachine())).code).toBe("upstream_unavailable");
    fake.switches.down = false;
    expect(await readOnAnotherMachine()).toEqual(image.layers);
  });
});

describe("the size of the folder", () => {
  test("stays below its size: least used first, manifests and what was used just now stay", async () => {
    const dir = await scratchFolder();
    const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
    const put = async (name: string, sizeBytes: number, minutes: number) => {
      await writeFile(join(dir, name), Buffer.alloc(sizeBytes));
      await utimes(join(dir, name), minutesAgo(minutes), minutesAgo(500));
    };
    await put("old", 100_000, 90);
    await put("older", 100_000, 120);
    await put("oldest-manifest", 1_000, 300);
    await put("used-again", 100_000, 200);
    await put("new", 100_000, 1);
    await markUsed(join(dir, "used-again"));
    const limits = { maxBytes: 250_000, minIdleMs: 3_600_000 };
    expect(await evictBlobs(dir, limits)).toEqual([join(dir, "older"), join(dir, "old")]);
    expect((await readdir(dir)).sort()).toEqual(["new", "oldest-manifest", "used-again"]);
    expect(await evictBlobs(dir, { ...limits, maxBytes: 1 })).toEqual([]);
  });

  test("is looked through after a download; a blob that was removed is fetched again", async () => {
    const dir = await scratchFolder();
    const blobs = new BlobCache({ dir, limits: { maxBytes: 150_000, minIdleMs: -1 } });
    let fills = 0;
    const get = async (bytes: Buffer) =>
      blobs.get({ digest: sha256(bytes), sizeBytes: bytes.byteLength }, async (path) => {
        fills += 1;
        await writeFile(path, bytes);
        return sha256(bytes);
      });
    const [one, two] = [randomBytes(100_000), randomBytes(100_000)];
    await get(one);
    await get(one);
    // Uses are told apart by the clock of the file system; some tick every four milliseconds.
    await new Promise((resolve) => setTimeout(resolve, 50));
    await get(two);
    await blobs.evict();
    expect(await readdir(join(dir, "blobs", "sha256"))).toEqual([sha256(two).slice(7)]);
    await expectBytes(await get(one), one);
    expect(fills).toBe(3);
  });
});
