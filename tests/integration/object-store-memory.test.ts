/** Both stores pass 256 MiB on without holding it. A file of its own: a fresh process has nothing to hide growth in. */
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { DirectoryStore } from "../../lib/storage/directory-store.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { S3Store } from "../../lib/storage/s3-store.ts";
import { createTestBucket } from "../fixtures/s3.ts";

const MIB = 1024 * 1024;

/** More blocks than can be on their way at once, made before anything is measured: the source itself makes no garbage. */
const ring = Array.from({ length: 48 }, () => randomBytes(MIB));

async function* megabytes(count: number): AsyncGenerator<Buffer> {
  for (let n = 0; n < count; n++) {
    const block = ring[n % ring.length] ?? Buffer.alloc(MIB);
    block.writeUInt32LE(n);
    yield block;
  }
}

async function growthMiB(store: ObjectStore): Promise<number> {
  await store.put("warm-up", Readable.from(megabytes(1)));
  const before = process.memoryUsage().rss;
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 10);
  const put = await store.put("large", Readable.from(megabytes(256)));
  const hash = createHash("sha256");
  for await (const chunk of await store.get("large")) hash.update(chunk);
  clearInterval(watch);
  expect(hash.digest("hex")).toBe(put.sha256);
  await store.delete("large");
  return Math.round((peak - before) / MIB);
}

it("the S3 store needs less than 100 MiB for 256 MiB", async () => {
  const { server, settings } = await createTestBucket();
  const growth = await growthMiB(new S3Store(settings));
  console.log(`S3 store on ${server}: memory grew by ${growth} MiB`);
  expect(growth).toBeLessThan(100);
});

it("the directory store needs less than 100 MiB for 256 MiB", async () => {
  const dir = await mkdtemp(join(tmpdir(), "casthouse-memory-"));
  const growth = await growthMiB(new DirectoryStore(dir));
  console.log(`directory store: memory grew by ${growth} MiB`);
  expect(growth).toBeLessThan(100);
  await rm(dir, { recursive: true, force: true });
});
