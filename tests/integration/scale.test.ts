/**
 * Proves that processes share everything through Postgres, Redis and S3: two webs and two workers, each with a folder of
 * its own, make one build of what eight clients want, and either web knows what the other one started.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chunksOf, postSchematic, waitForVersion } from "../../scripts/demo/client.ts";
import { findFreePort } from "../../scripts/embedded/free-port.ts";
import { ensureSampleRelease, startSampleRegistry } from "../../scripts/sample-release/index.ts";
import type { SampleRegistry } from "../../scripts/sample-release/registry.ts";
import { killHard } from "../fixtures/build-world.ts";
import { readBuild, sha256Of, startBuild, untilEnded } from "../fixtures/killable-factory.ts";
import { createMigratedDatabase } from "../fixtures/postgres.ts";
import { createTestRedis } from "../fixtures/redis.ts";
import { createTestBucket } from "../fixtures/s3.ts";

const FILES = { web: "tests/fixtures/api-server.ts", worker: "workers/main.ts" };

let registry: SampleRegistry;
let folder: string;
let databaseUrl: string;
let webs: [string, string];
const children: ChildProcess[] = [];

beforeAll(async () => {
  const { registryDir } = await ensureSampleRelease();
  registry = await startSampleRegistry({ registryDir });
  folder = await mkdtemp(join(tmpdir(), "casthouse-scale-"));
  databaseUrl = await createMigratedDatabase();
  const { settings, server } = await createTestBucket();
  console.log(`S3 server: ${server}`);
  const shared = {
    DATABASE_URL: databaseUrl,
    REDIS_URL: (await createTestRedis()).url,
    S3_ENDPOINT: settings.endpoint ?? "",
    S3_BUCKET: settings.bucket,
    S3_ACCESS_KEY_ID: settings.accessKeyId ?? "",
    S3_SECRET_ACCESS_KEY: settings.secretAccessKey ?? "",
    SOURCE_REGISTRY: registry.url,
    EXTERNAL_URL: "http://factory.test",
    HOST: "127.0.0.1",
  };
  const startWeb = async () => {
    const port = await findFreePort();
    start("web", { ...shared, PORT: String(port) });
    return `http://127.0.0.1:${port}`;
  };
  webs = [await startWeb(), await startWeb()];
  start("worker", shared);
  start("worker", shared);
  for (const web of webs) await untilAnswering(web);
}, 300_000);

afterAll(async () => {
  await Promise.all(children.map((child) => (child.exitCode === null ? killHard(child) : null)));
  await registry?.stop();
  await rm(folder, { recursive: true, force: true });
});

function start(what: keyof typeof FILES, variables: Record<string, string>): void {
  const dataDir = join(folder, `${what}-${children.length}`);
  const env = { ...process.env, ...variables, DATA_DIR: dataDir, LOG_LEVEL: "error" };
  children.push(
    spawn(process.execPath, ["--import", "tsx", FILES[what]], {
      env,
      stdio: ["ignore", "inherit", "inherit"],
    }),
  );
}

async function untilAnswering(web: string): Promise<void> {
  for (const end = Date.now() + 60_000; ; ) {
    if ((await fetch(`${web}/healthz`).catch(() => null))?.ok) break;
    if (Date.now() > end) throw new Error(`${web} does not answer`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await waitForVersion(web, "v1.13.2", 60_000);
}

/** Stored through the first web. */
const schematic = () => postSchematic(webs[0], `customization: {extraKernelArgs: [test=${randomUUID()}]}\n`);

async function rowsOf(schematicId: string): Promise<{ state: string; attempts: number; worker: string }[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const text = "select state, attempts, worker from build where schematic_id = $1";
    return (await client.query(text, [schematicId])).rows;
  } finally {
    await client.end();
  }
}

interface ServerSentEvent {
  id: string;
  event: string;
  data: string;
}

/** Events of a build until the stream ends, or until there are `limit` of them. */
async function readEvents(
  url: string,
  options: { lastEventId?: string; limit?: number } = {},
): Promise<ServerSentEvent[]> {
  const leaving = new AbortController();
  const headers = options.lastEventId === undefined ? {} : { "Last-Event-ID": options.lastEventId };
  const reply = await fetch(url, { headers, signal: leaving.signal });
  expect(reply.headers.get("content-type")).toMatch(/^text\/event-stream/);
  const events: ServerSentEvent[] = [];
  let text = "";
  if (reply.body)
    for await (const chunk of chunksOf(reply.body)) {
      text += Buffer.from(chunk).toString();
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const fields = new Map(
          text
            .slice(0, end)
            .split("\n")
            .map((line) => [line.split(": ")[0], line.replace(/^\w+: /, "")]),
        );
        text = text.slice(end + 2);
        if (fields.has("data"))
          events.push({
            id: fields.get("id") ?? "",
            event: fields.get("event") ?? "",
            data: fields.get("data") ?? "",
          });
      }
      if (events.length >= (options.limit ?? Number.POSITIVE_INFINITY)) break;
    }
  leaving.abort();
  return events.slice(0, options.limit);
}

test("eight clients at two webs want one cold file: one build, eight equal downloads", async () => {
  const id = await schematic();
  const path = `/image/${id}/v1.13.2/metal-amd64.iso`;
  const got = await Promise.all(
    Array.from({ length: 8 }, (_, i) => sha256Of(`${webs[i % 2 ? 1 : 0]}${path}`)),
  );
  expect(new Set(got).size).toBe(1);
  expect(await rowsOf(id)).toMatchObject([{ state: "ready", attempts: 1 }]);
  for (const web of webs)
    expect(await (await fetch(`${web}${path}.sha256`)).text()).toBe(`${got[0]}  metal-amd64.iso\n`);
});

test("a build started at one web is followed at the other", async () => {
  const id = await schematic();
  const path = `/image/${id}/v1.13.2/metal-amd64.raw.zst`;
  const location = await startBuild(webs[0], path);
  expect(await startBuild(webs[1], path)).toBe(location);
  expect((await readBuild(webs[1], location)).path).toBe("metal-amd64.raw.zst");
  expect(await untilEnded(webs[1], location)).toMatchObject({ state: "ready", attempts: 1 });
  expect(await sha256Of(webs[1] + path)).toBe(await sha256Of(webs[0] + path));
});

test("live events come from either web, and go on at the other after Last-Event-ID", async () => {
  const id = await schematic();
  const location = await startBuild(webs[0], `/image/${id}/v1.12.4/metal-amd64.raw.gz`);
  const begun = await readEvents(`${webs[0]}${location}/events`, { limit: 3 });
  expect(begun).toHaveLength(3);
  const rest = await readEvents(`${webs[1]}${location}/events`, { lastEventId: begun[2]?.id ?? "" });
  expect(rest.at(-1)).toMatchObject({ event: "done", data: expect.stringContaining('"ready"') });
  const all = await readEvents(`${webs[1]}${location}/events`);
  expect([...begun, ...rest]).toEqual(all);
});

test("both workers take their part", async () => {
  const ids = await Promise.all(Array.from({ length: 6 }, schematic));
  const builds = await Promise.all(
    ids.map((id, i) => startBuild(webs[i % 2 ? 1 : 0], `/image/${id}/v1.13.2/metal-amd64-uki.efi`)),
  );
  for (const build of builds) expect((await untilEnded(webs[0], build)).state).toBe("ready");
  const workers = new Set((await Promise.all(ids.map(rowsOf))).flat().map((row) => row.worker));
  expect(workers.size).toBe(2);
});
