/** One contract, two stores: a directory, and a bucket on a real S3 server. */
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, open, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { ListMultipartUploadsCommand, S3Client } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AppError } from "../../lib/errors/app-error.ts";
import { createObjectStore } from "../../lib/storage/create-object-store.ts";
import { DirectoryStore, sweepTemporaryFiles } from "../../lib/storage/directory-store.ts";
import type { ObjectStore } from "../../lib/storage/object-store.ts";
import { type S3Settings, S3Store } from "../../lib/storage/s3-store.ts";
import { createTestBucket } from "../fixtures/s3.ts";

const MIB = 1024 * 1024;
let dir: string;
let bucket: S3Settings;
/** The S3 server in use; see tests/fixtures/s3-server.ts. */
let serverName = "";

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "casthouse-store-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const digest = (algorithm: string, bytes: Uint8Array) => createHash(algorithm).update(bytes).digest("hex");

async function failure(promise: Promise<unknown>): Promise<AppError> {
  const error = await promise.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (!(error instanceof AppError)) throw new Error(`expected an AppError, got ${String(error)}`);
  return error;
}

/** Pseudo-random megabytes without keeping them: the same block with a counter in front. */
async function* megabytes(count: number, failAt = -1): AsyncGenerator<Buffer> {
  const block = randomBytes(MIB);
  for (let n = 0; n < count; n++) {
    if (n === failAt) throw new Error("the source broke");
    block.writeUInt32LE(n);
    yield Buffer.from(block);
  }
}

async function keysOf(store: ObjectStore, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(prefix)) keys.push(key);
  // S3 servers differ in their order.
  return keys.sort();
}

function contract(name: string, open: () => Promise<ObjectStore>, leftovers: () => Promise<string[]>): void {
  describe(name, () => {
    let store: ObjectStore;
    beforeAll(async () => {
      store = await open();
    });

    it("gives back what was put, with size and both digests", async () => {
      const bytes = randomBytes(300_000);
      const result = await store.put(
        "assets/one/file.iso",
        Readable.from([bytes.subarray(0, 7), bytes.subarray(7)]),
      );
      expect(result).toEqual({
        sizeBytes: 300_000,
        sha256: digest("sha256", bytes),
        sha512: digest("sha512", bytes),
      });
      expect(await store.head("assets/one/file.iso")).toEqual({ sizeBytes: 300_000 });
      expect((await buffer(await store.get("assets/one/file.iso"))).equals(bytes)).toBe(true);
    });

    it("holds empty objects", async () => {
      const result = await store.put("assets/empty", Readable.from([]));
      expect(result.sizeBytes).toBe(0);
      expect(await store.head("assets/empty")).toEqual({ sizeBytes: 0 });
      expect((await buffer(await store.get("assets/empty"))).length).toBe(0);
    });

    it("holds objects of several upload parts", async () => {
      const hash = createHash("sha256");
      async function* hashed() {
        for await (const block of megabytes(21)) {
          hash.update(block);
          yield block;
        }
        yield Buffer.from("tail");
      }
      const result = await store.put("assets/parts", Readable.from(hashed()));
      expect(result.sizeBytes).toBe(21 * MIB + 4);
      expect(digest("sha256", await buffer(await store.get("assets/parts")))).toBe(result.sha256);
      expect(
        (await buffer(await store.get("assets/parts", { start: 21 * MIB, end: 21 * MIB + 3 }))).toString(),
      ).toBe("tail");
    });

    it("serves ranges, cuts the end, refuses a start past the end", async () => {
      const bytes = randomBytes(100_000);
      await store.put("assets/range", Readable.from([bytes]));
      const part = async (start: number, end: number) =>
        buffer(await store.get("assets/range", { start, end }));
      expect((await part(0, 0)).equals(bytes.subarray(0, 1))).toBe(true);
      expect((await part(999, 70_000)).equals(bytes.subarray(999, 70_001))).toBe(true);
      expect((await part(99_990, 500_000)).equals(bytes.subarray(99_990))).toBe(true);
      expect((await failure(part(100_000, 100_001))).code).toBe("range_not_satisfiable");
      expect((await failure(part(5, 4))).code).toBe("range_not_satisfiable");
    });

    it("says null, false or not_found for what is not there", async () => {
      expect(await store.head("assets/none")).toBeNull();
      expect((await failure(store.get("assets/none"))).code).toBe("not_found");
      expect((await failure(store.get("assets/none", { start: 0, end: 1 }))).code).toBe("not_found");
      expect(await store.getFile("assets/none", join(dir, "none"))).toBe(false);
      await expect(stat(join(dir, "none"))).rejects.toThrow("ENOENT");
      await store.delete("assets/none");
    });

    it("takes a file that is given away, and copies into a file", async () => {
      const bytes = randomBytes(20 * MIB);
      const source = join(dir, `${store.kind}-given`);
      await writeFile(source, bytes);
      const result = await store.putFile("parts/squashfs/abc", source);
      expect(result).toEqual({
        sizeBytes: bytes.length,
        sha256: digest("sha256", bytes),
        sha512: digest("sha512", bytes),
      });
      await expect(stat(source)).rejects.toThrow("ENOENT");
      const copy = join(dir, `${store.kind}-copy`);
      expect(await store.getFile("parts/squashfs/abc", copy)).toBe(true);
      expect((await readFile(copy)).equals(bytes)).toBe(true);
      await writeFile(copy, "the copy is the caller's");
      expect((await store.head("parts/squashfs/abc"))?.sizeBytes).toBe(bytes.length);
    });

    it("replaces an object whole while it is being read", async () => {
      const old = Buffer.alloc(24 * MIB, "a");
      const fresh = Buffer.alloc(24 * MIB, "b");
      await store.put("assets/replaced", Readable.from([old]));
      const reader = await store.get("assets/replaced");
      const first = await new Promise<Buffer>((resolve) =>
        reader.once("data", (chunk: Buffer) => {
          reader.pause();
          resolve(chunk);
        }),
      );
      await store.put("assets/replaced", Readable.from([fresh]));
      // Either the old object to its end, or a failure; never a mixture.
      const rest = await buffer(reader).catch(() => undefined);
      if (serverName.startsWith("s3rver") && store.kind === "s3") {
        console.log(
          "not checked for mixtures: s3rver overwrites files in place, which no real S3 server does",
        );
      } else if (rest) expect(Buffer.concat([first, rest]).equals(old)).toBe(true);
      expect((await buffer(await store.get("assets/replaced"))).equals(fresh)).toBe(true);
    });

    it("leaves nothing of a write whose source breaks, small or large", async () => {
      for (const [count, failAt] of [
        [3, 1],
        [40, 30],
      ] as const) {
        const source = Readable.from(megabytes(count, failAt));
        await expect(store.put(`broken/${count}`, source)).rejects.toThrow("the source broke");
      }
      expect(await keysOf(store, "broken/")).toEqual([]);
      expect(await leftovers()).toEqual([]);
    });

    it("keeps the old object when replacing it breaks", async () => {
      await store.put("assets/kept", Readable.from([Buffer.from("old")]));
      await expect(store.put("assets/kept", Readable.from(megabytes(20, 18)))).rejects.toThrow(
        "the source broke",
      );
      expect((await buffer(await store.get("assets/kept"))).toString()).toBe("old");
    });

    it("stops writing and reading on abort", async () => {
      const controller = new AbortController();
      async function* slow() {
        for await (const block of megabytes(100)) {
          yield block;
          await sleep(10);
        }
      }
      setTimeout(() => controller.abort(), 150);
      const put = failure(store.put("aborted/put", Readable.from(slow()), { signal: controller.signal }));
      expect((await put).code).toBe("cancelled");
      expect(await store.head("aborted/put")).toBeNull();
      expect(await leftovers()).toEqual([]);

      await store.put("aborted/get", Readable.from(megabytes(24)));
      const reading = new AbortController();
      const stream = await store.get("aborted/get", undefined, reading.signal);
      stream.once("data", () => reading.abort());
      await expect(buffer(stream)).rejects.toThrow();
    });

    it("lists by prefix, also with an unfinished last name", async () => {
      for (const key of ["list/b/2", "list/b/1", "list/a", "list/b-c", "list/bb/3", "other/x"]) {
        await store.put(key, Readable.from([Buffer.from(key)]));
      }
      expect(await keysOf(store, "list/")).toEqual([
        "list/a",
        "list/b-c",
        "list/b/1",
        "list/b/2",
        "list/bb/3",
      ]);
      expect(await keysOf(store, "list/bb")).toEqual(["list/bb/3"]);
      expect(await keysOf(store, "list/b")).toEqual(["list/b-c", "list/b/1", "list/b/2", "list/bb/3"]);
      expect(await keysOf(store, "nothing/")).toEqual([]);
      expect((await keysOf(store, "")).includes("other/x")).toBe(true);
      await store.delete("list/b/1");
      expect(await keysOf(store, "list/b/")).toEqual(["list/b/2"]);
    });

    it("serves many readers at once", async () => {
      const bytes = randomBytes(12 * MIB);
      await store.put("assets/many", Readable.from([bytes]));
      const sums = await Promise.all(
        Array.from({ length: 12 }, async () =>
          digest("sha256", await buffer(await store.get("assets/many"))),
        ),
      );
      expect(new Set(sums)).toEqual(new Set([digest("sha256", bytes)]));
    });

    it("lets the last of several writers of one key win, whole", async () => {
      const bodies = Array.from({ length: 6 }, (_, n) => Buffer.alloc(9 * MIB, String(n)));
      await Promise.all(bodies.map((body) => store.put("assets/raced", Readable.from([body]))));
      const stored = await buffer(await store.get("assets/raced"));
      if (serverName.startsWith("s3rver") && store.kind === "s3") {
        console.log("not checked for mixtures of writers: s3rver overwrites files in place");
        expect(stored.length).toBe(9 * MIB);
      } else expect(bodies.some((body) => body.equals(stored))).toBe(true);
      expect(await leftovers()).toEqual([]);
    });

    it("refuses hostile keys everywhere", async () => {
      const hostile = [
        "",
        "/",
        "/etc/passwd",
        "../x",
        "a/../b",
        "a//b",
        "a/",
        ".tmp/x",
        "a/.b",
        "a\\b",
        "a\0b",
        "a b",
        "é",
        "%2e%2e/x",
        "a/..",
        "~x",
        "x".repeat(600),
      ];
      for (const key of hostile) {
        const attempts: (() => Promise<unknown>)[] = [
          () => store.put(key, Readable.from([])),
          () => store.head(key),
          () => store.get(key),
          () => store.delete(key),
        ];
        for (const attempt of attempts) {
          expect((await failure(Promise.resolve().then(attempt))).code, JSON.stringify(key)).toBe(
            "invalid_input",
          );
        }
      }
    });

    it("can be checked", () => store.check());
  });
}

const root = () => join(dir, "objects");
contract(
  "the directory store",
  async () => new DirectoryStore(root()),
  () => readdir(join(root(), ".tmp")),
);

contract(
  "the S3 store",
  async () => {
    const { server, settings } = await createTestBucket();
    serverName = server;
    console.log(`S3 server: ${server}`);
    bucket = { ...settings, prefix: "casthouse/" };
    return new S3Store(bucket);
  },
  async () => {
    const credentials = {
      accessKeyId: bucket.accessKeyId ?? "",
      secretAccessKey: bucket.secretAccessKey ?? "",
    };
    const client = new S3Client({
      endpoint: bucket.endpoint ?? "",
      region: bucket.region,
      forcePathStyle: true,
      credentials,
    });
    const uploads = await client
      .send(new ListMultipartUploadsCommand({ Bucket: bucket.bucket }))
      .catch((error: Error) => {
        // s3rver does not know this request; then the list of objects alone has to do.
        if (error.name === "NotImplemented") return { Uploads: [] };
        throw error;
      });
    client.destroy();
    return (uploads.Uploads ?? []).map((upload) => upload.Key ?? "?");
  },
);

describe("the directory store alone", () => {
  it("hashes a sparse disk of 4.4 GB in seconds and keeps it sparse", async () => {
    const store = new DirectoryStore(join(dir, "sparse"));
    const path = join(dir, "disk.raw");
    const file = await open(path, "w");
    await file.write(randomBytes(8 * MIB), 0, 8 * MIB, 100 * MIB);
    await file.close();
    await truncate(path, 4_404_019_200);
    const start = Date.now();
    const result = await store.putFile("assets/disk", path);
    console.log(`4.4 GB sparse: hashed and stored in ${Date.now() - start} ms`);
    expect(result.sizeBytes).toBe(4_404_019_200);
    expect(Date.now() - start).toBeLessThan(30_000);
    expect((await stat(join(dir, "sparse/assets/disk"))).blocks * 512).toBeLessThan(16 * MIB);
  });

  it("sweeps what a killed writer left, but not what is being written", async () => {
    const place = join(dir, "swept");
    const store = new DirectoryStore(place);
    await store.check();
    await writeFile(join(place, ".tmp", "left"), "half");
    expect(await sweepTemporaryFiles(place, 60_000, Date.now())).toBe(0);
    expect(await sweepTemporaryFiles(place, 60_000, Date.now() + 120_000)).toBe(1);
  });

  it("says what is wrong when the folder cannot be written", async () => {
    await writeFile(join(dir, "a-file"), "");
    const error = await failure(new DirectoryStore(join(dir, "a-file")).check());
    expect(error.code).toBe("upstream_unavailable");
    expect(error.message).toContain("a-file cannot be written");
  });

  it("fails instead of ending early when a file is cut short", async () => {
    const store = new DirectoryStore(join(dir, "cut"));
    await store.put("x", Readable.from([Buffer.alloc(2 * MIB)]));
    const stream = await store.get("x");
    await truncate(join(dir, "cut/x"), MIB);
    await expect(buffer(stream)).rejects.toThrow("shorter than expected");
  });
});

describe("the S3 store alone", () => {
  /** A server whose connections break after every 300 kB. */
  function breakingServer(bytes: Buffer, seen: string[]): Promise<Server> {
    const server = createServer((request, response) => {
      const range = /bytes=(\d+)-(\d*)/.exec(request.headers.range ?? "");
      seen.push(`${request.headers.range ?? "all"} ${request.headers["if-match"] ?? ""}`.trim());
      const part = bytes.subarray(range ? Number(range[1]) : 0);
      const headers = { "content-length": part.length, etag: '"v1"' };
      if (range) response.writeHead(206, { ...headers, "content-range": `bytes ${range[1]}-999999/1000000` });
      else response.writeHead(200, headers);
      if (part.length <= 300_000) response.end(part);
      else response.write(part.subarray(0, 300_000), () => setTimeout(() => response.destroy(), 20));
    });
    return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
  }

  const settings = (port: number): S3Settings => ({
    ...{
      endpoint: `http://127.0.0.1:${port}`,
      bucket: "b",
      region: "us-east-1",
      accessKeyId: "a",
      secretAccessKey: "s",
    },
    forcePathStyle: true,
  });

  it("continues a broken download where it stopped, of the same object", async () => {
    const bytes = randomBytes(1_000_000);
    const seen: string[] = [];
    const server = await breakingServer(bytes, seen);
    const address = server.address();
    const store = new S3Store(settings(typeof address === "object" && address ? address.port : 0));
    expect((await buffer(await store.get("x"))).equals(bytes)).toBe(true);
    expect(seen[0]).toBe("all");
    expect(seen.length).toBeGreaterThan(3);
    expect(seen.slice(1).every((entry) => /^bytes=\d+-999999 "v1"$/.test(entry))).toBe(true);
    store.close();
    server.close();
  });

  it("makes a missing bucket at start, once, however many processes start", async () => {
    const fresh = { kind: "s3" as const, ...bucket, bucket: `${bucket.bucket}-fresh` };
    const created: string[] = [];
    const stores = await Promise.all(
      [1, 2, 3].map(() => createObjectStore(fresh, (name) => created.push(name))),
    );
    // s3rver says "made" to everyone who asks at the same moment.
    if (!serverName.startsWith("s3rver")) expect(created).toEqual([fresh.bucket]);
    expect(created.length).toBeGreaterThan(0);
    await Promise.all(stores.map((store) => store.check()));
    const again = await createObjectStore(fresh, () => expect.fail("the bucket was there"));
    await again.check();
  });

  it("starts without the server, and leaves it to the check to say so", async () => {
    const store = await createObjectStore({ kind: "s3", ...settings(1) }, () => expect.fail("no server"));
    expect((await failure(store.check())).message).toContain("cannot be written and read");
  });

  it("says in one sentence that the server or the bucket is away", async () => {
    const away = await failure(new S3Store(settings(1)).check());
    expect(away.code).toBe("upstream_unavailable");
    const missing = new S3Store({ ...bucket, bucket: "no-such-bucket" });
    expect((await failure(missing.check())).extra.hint).toContain("S3_BUCKET");
    expect((await failure(missing.get("x"))).code).toBe("upstream_unavailable");
  });
});
