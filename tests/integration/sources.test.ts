/** The source against the real docker-registry and a real Postgres. */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createDatabase, type Database } from "../../lib/db/client.ts";
import { createReleaseRepository } from "../../lib/db/release-repository.ts";
import type { ReleaseRecord } from "../../lib/domain/release-record.ts";
import { type ClosableReleaseService, createReleaseService } from "../../lib/services/releases/releases.ts";
import { makeLayer, sha256 } from "../fixtures/fake-image.ts";
import { FakeRegistry } from "../fixtures/fake-registry.ts";
import { memoryRepository, pushRelease, sourceFor } from "../fixtures/fake-source.ts";
import { createMigratedDatabase } from "../fixtures/postgres.ts";
import { pushAll } from "../fixtures/push-image.ts";
import { startRegistry, type TestRegistry } from "../fixtures/registry.ts";
import { failure, openSource, removeScratch, scratchFolder } from "../fixtures/source-images.ts";

const log = { info: () => undefined, warn: () => undefined };
/** bcrypt of "s3cret". */
const HTPASSWD = "robot:$2y$05$abcdefghijklmnopqrstuuLK7U1u6pVRmL7L1BBM2aS35PSZnDXlK\n";

/** Images are made in the fake registry and copied from there. */
let fake: FakeRegistry;
let registry: TestRegistry;
let db: Database;
beforeAll(async () => {
  fake = await FakeRegistry.start();
  registry = await startRegistry();
  db = createDatabase(await createMigratedDatabase());
});
afterEach(async () => {
  fake.reset();
  await removeScratch();
});
afterAll(async () => {
  await db.$disconnect();
  await registry.stop();
  await fake.stop();
});

function open(images: Awaited<ReturnType<typeof openSource>>["images"], url: string, refreshMs = 200) {
  const repository = createReleaseRepository(db);
  return createReleaseService({
    images,
    repository,
    source: { ...sourceFor(fake), registry: url, refreshMs },
    log,
  });
}

function recordOf(version: string, read: boolean): ReleaseRecord {
  const imager = { repository: "siderolabs/imager", digest: sha256(Buffer.from(version)) };
  return {
    ...{ version, state: "complete", missing: [], sample: false, registry: "r", namesChecked: read },
    inputs: read
      ? { registry: "r", imager, baseInstaller: null, extensions: imager.digest, overlays: null }
      : null,
    ...{ extensions: [], overlays: [], checkedAt: new Date(0) },
  };
}

test("releases that leave the list are kept as they were read, and are not listed by that", async () => {
  const rows = [recordOf("v1.8.0", true), recordOf("v1.8.1", true), recordOf("v1.8.2", false)] as const;
  const repository = createReleaseRepository(db);
  const [kept, lost, unread] = rows;
  await repository.replaceAll([...rows]);
  await repository.replaceAll([kept]);
  expect((await repository.load("r")).map((record) => record.version)).toEqual([kept.version]);
  expect(await repository.find(lost.version)).toMatchObject({ inputs: lost.inputs, state: "incomplete" });
  expect(await repository.find(unread.version)).toBeNull();
  await repository.update(lost);
  expect((await repository.load("r")).map((record) => record.version)).toEqual([kept.version]);
  await repository.replaceAll([kept, lost]);
  expect(await repository.load("r")).toHaveLength(2);
});

describe("docker-registry", () => {
  test("gives tags in pages, index, platform manifest and flattened tree", async () => {
    const layers = [
      await makeLayer([
        { name: "usr/install/amd64/vmlinuz", content: "old" },
        { name: "gone", content: "x" },
      ]),
      await makeLayer([{ name: "usr/install/amd64/vmlinuz", content: "new" }, { name: ".wh.gone" }], "zstd"),
    ];
    const image = fake.push("siderolabs/imager", "v1.0.0", { layers, arches: ["amd64", "arm64"] });
    const single = fake.push("siderolabs/imager", "v1.0.1", { layers, docker: true });
    for (let minor = 1; minor <= 30; minor += 1)
      fake.repository("siderolabs/imager").tags.set(`v1.${minor}.0`, image.digest);
    await pushAll(fake, registry.url);
    const { images } = await openSource(registry.url, {
      fetch: (input, init) => fetch(String(input).replace("n=1000", "n=7"), init),
    });
    expect((await images.tags("siderolabs/imager")).length).toBe(32);
    expect(await images.resolveTag("siderolabs/imager", "v1.0.0")).toBe(image.digest);
    expect(await images.resolveTag("siderolabs/imager", "v9")).toBeNull();
    expect(await images.resolveTag("siderolabs/nothing", "v9")).toBeNull();
    expect((await failure(images.tags("siderolabs/nothing"))).code).toBe("not_found");
    for (const digest of [image.digest, single.digest]) {
      const dir = join(await scratchFolder(), "tree");
      await images.extract("siderolabs/imager", digest, "amd64", dir);
      expect(await readFile(join(dir, "usr/install/amd64/vmlinuz"), "utf8")).toBe("new");
      await expect(readFile(join(dir, "gone"))).rejects.toThrow("ENOENT");
    }
  });

  test("goes on with a blob where the connection broke off", async () => {
    const bytes = randomBytes(2_000_000);
    fake.push("a/b", "v1", { layers: [bytes] });
    await pushAll(fake, registry.url);
    const ranges: (string | null)[] = [];
    const { images } = await openSource(registry.url, {
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        if (!String(input).includes("/blobs/")) return response;
        ranges.push(new Headers(init?.headers).get("range"));
        return ranges.length > 2 ? response : new Response(cutAfter(response, 500_000), response);
      },
    });
    const descriptor = { mediaType: "x", digest: sha256(bytes), size: bytes.byteLength };
    expect(sha256(await readFile(await images.blob("a/b", descriptor)))).toBe(descriptor.digest);
    expect(ranges[0]).toBeNull();
    expect(ranges).toHaveLength(3);
    expect(ranges.slice(1).every((range) => /^bytes=\d+-$/.test(range ?? ""))).toBe(true);
  });

  test("asks for name and password", async () => {
    const locked = await startRegistry({ htpasswd: HTPASSWD });
    try {
      await pushRelease(fake, "v1.13.0");
      const basic = `Basic ${Buffer.from("robot:s3cret").toString("base64")}`;
      await pushAll(fake, locked.url, basic);
      const good = await openSource(locked.url, { username: "robot", password: "s3cret" });
      expect(await good.images.tags("siderolabs/imager")).toEqual(["v1.13.0"]);
      const bad = await openSource(locked.url, { username: "robot", password: "nope" });
      expect((await failure(bad.images.tags("siderolabs/imager"))).message).toContain("answers 401");
    } finally {
      await locked.stop();
    }
  });
});

describe("releases", () => {
  test("are read, kept in Postgres, and served by the next process while the registry is away", async () => {
    const source = await startRegistry();
    let stopped = false;
    const services: ClosableReleaseService[] = [];
    try {
      await pushRelease(fake, "v1.12.0", { sample: true });
      await pushRelease(fake, "v1.13.0");
      await pushAll(fake, source.url);
      const first = open((await openSource(source.url)).images, source.url);
      services.push(first);
      expect(await first.versions()).toEqual(["v1.12.0", "v1.13.0"]);
      const release = await first.require("v1.12.0");
      expect(release.sample).toBe(true);
      const summaries = await first.summaries();
      await first.idle();
      expect((await createReleaseRepository(db).load(source.url)).map((row) => row.namesChecked)).toEqual([
        true,
        true,
      ]);

      await pushRelease(fake, "v1.13.1");
      await pushAll(fake, source.url);
      await expect.poll(() => first.versions(), { timeout: 5_000 }).toContain("v1.13.1");

      await first.close();
      await source.stop();
      stopped = true;
      const retry = { attempts: 2, baseDelayMs: 1, maxDelayMs: 1, maxRetryAfterMs: 1 };
      const second = open((await openSource(source.url, { retry })).images, source.url);
      services.push(second);
      expect(await second.versions()).toEqual(["v1.12.0", "v1.13.0", "v1.13.1"]);
      expect(await second.require("v1.12.0")).toEqual(release);
      expect((await second.summaries()).slice(1)).toEqual(summaries);
      // The list is read again by the next reader once it is old enough.
      const failure = async () => {
        await second.versions();
        return second.status().failure ?? "";
      };
      await expect.poll(failure, { timeout: 20_000 }).toContain("cannot be reached");
    } finally {
      for (const service of services) await service.close();
      if (!stopped) await source.stop();
    }
  });

  test("that left the list are not brought back by a late look", async () => {
    await pushRelease(fake, "v1.13.0");
    const repository = createReleaseRepository(db);
    const { images } = await openSource(fake.url);
    const service = open(images, fake.url);
    await service.versions();
    await service.close();
    const [record] = await repository.load(fake.url);
    if (!record) throw new Error("no record");
    const other = { ...record, version: "v1.13.1" };
    await repository.replaceAll([other]);
    await repository.update(record);
    expect((await repository.load(fake.url)).map(({ version }) => version)).toEqual(["v1.13.1"]);
    const odd = {
      ...record,
      extensions: record.extensions.map((one) => ({ ...one, description: "a\u0000\ud800b'\"" })),
    };
    await repository.replaceAll([odd]);
    expect((await repository.load(fake.url))[0]?.extensions[0]?.description).toBe("a\ufffd\ufffdb'\"");
    await db.$executeRaw`UPDATE release SET inputs = '{}'::jsonb`;
    expect(await repository.load(fake.url)).toEqual([]);
    await db.$executeRaw`DELETE FROM release`;
  });

  test("by the hundred are listed long before all their catalogs are read", async () => {
    await pushRelease(fake, "v1.2.0", { overlays: false });
    for (let patch = 1; patch <= 120; patch += 1) {
      await pushRelease(fake, `v1.2.${patch}`, { overlays: false });
    }
    fake.switches.latencyMs = 100;
    const { images } = await openSource(fake.url);
    const { repository } = memoryRepository();
    const service = createReleaseService({
      images,
      repository,
      source: sourceFor(fake, { refreshMs: 60_000 }),
      log,
    });
    const startedAt = Date.now();
    expect((await service.versions()).length).toBe(121);
    expect(Date.now() - startedAt).toBeLessThan(4_500);
    const read = (await service.summaries()).map((one) => one.extensionCount > 0);
    expect(read.filter(Boolean).length).toBeLessThan(121);
    expect(read[0]).toBe(true);
    const asked = Date.now();
    expect((await service.require("1.2.0")).extensions.length).toBe(2);
    expect(Date.now() - asked).toBeLessThan(3_000);
    expect(fake.peak).toBeLessThanOrEqual(24);
    await service.close();
  });
});

function cutAfter(response: Response, bytes: number): ReadableStream<Uint8Array> {
  const reader = response.body?.getReader();
  let left = bytes;
  return new ReadableStream({
    async pull(controller) {
      const part = await reader?.read();
      if (!part || part.done) return controller.close();
      left -= part.value.byteLength;
      controller.enqueue(part.value);
      if (left > 0) return;
      controller.error(new Error("cut"));
      await reader?.cancel();
    },
  });
}
