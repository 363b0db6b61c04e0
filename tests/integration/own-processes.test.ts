/**
 * Proves that own extensions belong to no process: what one web takes is there at the other at once, after a restart of
 * both, and what a deleted source left behind still serves files and locks.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildAsset, postSchematic, waitForVersion } from "../../scripts/demo/client.ts";
import { findFreePort } from "../../scripts/embedded/free-port.ts";
import { ensureSampleRelease, startSampleRegistry } from "../../scripts/sample-release/index.ts";
import type { SampleRegistry } from "../../scripts/sample-release/registry.ts";
import { killHard } from "../fixtures/build-world.ts";
import { sha256Of } from "../fixtures/killable-factory.ts";
import { type Pin, packChaos, sendJson, uploadPin } from "../fixtures/own-extensions.ts";
import { createMigratedDatabase } from "../fixtures/postgres.ts";
import { createTestRedis } from "../fixtures/redis.ts";
import { createTestBucket } from "../fixtures/s3.ts";

const VERSION = "v1.13.2";
const NAME = "team/chaos-daemon";
const FILES = { web: "tests/fixtures/api-server.ts", worker: "workers/main.ts" };

let registry: SampleRegistry;
let folder: string;
let shared: Record<string, string>;
let one: string;
let two: string;
let children: ChildProcess[] = [];
let schematic: string;
let pin: Pin;

beforeAll(async () => {
  const { registryDir } = await ensureSampleRelease({ tags: [VERSION] });
  registry = await startSampleRegistry({ registryDir });
  folder = await mkdtemp(join(tmpdir(), "casthouse-own-"));
  const { settings } = await createTestBucket();
  shared = {
    DATABASE_URL: await createMigratedDatabase(),
    REDIS_URL: (await createTestRedis()).url,
    S3_ENDPOINT: settings.endpoint ?? "",
    S3_BUCKET: settings.bucket,
    S3_ACCESS_KEY_ID: settings.accessKeyId ?? "",
    S3_SECRET_ACCESS_KEY: settings.secretAccessKey ?? "",
    SOURCE_REGISTRY: registry.url,
    EXTERNAL_URL: "http://factory.test",
    OWN_EXTENSIONS: "everyone",
    HOST: "127.0.0.1",
  };
  await startAll();
}, 300_000);

afterAll(async () => {
  await endAll();
  await registry?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Two webs and a worker, each with an empty folder of its own. */
async function startAll(): Promise<void> {
  [one, two] = [await startWeb(), await startWeb()];
  start("worker", {});
  for (const web of [one, two]) await waitForVersionOf(web);
}

async function startWeb(): Promise<string> {
  const port = await findFreePort();
  start("web", { PORT: String(port) });
  return `http://127.0.0.1:${port}`;
}

function start(what: keyof typeof FILES, variables: Record<string, string>): void {
  const dataDir = join(folder, `${what}-${Math.random()}`);
  const env = { ...process.env, ...shared, ...variables, DATA_DIR: dataDir, LOG_LEVEL: "error" };
  const stdio: ["ignore", "inherit", "inherit"] = ["ignore", "inherit", "inherit"];
  children.push(spawn(process.execPath, ["--import", "tsx", FILES[what]], { env, stdio }));
}

async function waitForVersionOf(web: string): Promise<void> {
  for (const end = Date.now() + 60_000; ; ) {
    if ((await fetch(`${web}/healthz`).catch(() => null))?.ok) break;
    if (Date.now() > end) throw new Error(`${web} does not answer`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await waitForVersion(web, VERSION, 60_000);
}

async function endAll(): Promise<void> {
  await Promise.all(children.map((child) => (child.exitCode === null ? killHard(child) : null)));
  children = [];
}

const json = async (url: string) => (await fetch(url)).json();
const listed = async (web: string): Promise<string[]> =>
  (await json(`${web}/version/${VERSION}/extensions/official`)).map(({ name }: Pin) => name);
const image = (web: string, file: string) => `${web}/image/${schematic}/${VERSION}/${file}`;

test("what one web takes, the other lists, serves and builds at once", async () => {
  // The other one has asked before, and remembers that there was nothing.
  expect(await listed(two)).not.toContain(NAME);
  const archive = await packChaos(join(folder, "made"), { version: "v1.0.0" });
  pin = await uploadPin(archive, `${one}/api/v1/extensions/${NAME}`);
  await expect.poll(() => listed(two), { timeout: 2_000 }).toContain(NAME);
  expect((await json(`${two}/api/v1/sources`)).sources).toMatchObject([
    { id: pin.sourceId, name: "chaos-daemon" },
  ]);
  const manifest = await fetch(`${two}/v2/own/${NAME}/manifests/v1.0.0`);
  expect(manifest.headers.get("docker-content-digest")).toBe(pin.digest);
  schematic = await postSchematic(
    one,
    `customization: {systemExtensions: {officialExtensions: [${NAME}]}}\n`,
  );
  await buildAsset(two, `/image/${schematic}/${VERSION}/initramfs-amd64.xz`, () => {});
});

test("everything is there after all processes were killed and lost their folders", async () => {
  const before = await sha256Of(image(one, "initramfs-amd64.xz"));
  await endAll();
  await startAll();
  for (const web of [one, two]) {
    expect(await listed(web)).toContain(NAME);
    expect(await sha256Of(image(web, "initramfs-amd64.xz"))).toBe(before);
  }
  await buildAsset(one, `/image/${schematic}/${VERSION}/metal-amd64-uki.efi`, () => {});
});

test("a deleted source names its schematics and keeps what they need", async () => {
  const lock = await json(`${one}/api/v1/models/${schematic}/${VERSION}/lock`);
  const { body: kept } = await sendJson(`${two}/api/v1/locks`, lock);
  const built = await sha256Of(image(one, "initramfs-amd64.xz"));
  const usage = await json(`${two}/api/v1/sources/${pin.sourceId}/usage`);
  expect(usage).toEqual({ schematics: [schematic], hidden: 0 });
  const removed = await sendJson(`${one}/api/v1/sources/${pin.sourceId}`, {}, {}, "DELETE");
  expect([removed.status, removed.body]).toEqual([200, usage]);
  await expect.poll(() => listed(two), { timeout: 2_000 }).not.toContain(NAME);

  // Files that are there stay; a new one is refused, naming what is missing; the lock still builds it.
  expect(await sha256Of(image(two, "initramfs-amd64.xz"))).toBe(built);
  expect((await fetch(image(one, "initramfs-amd64.xz.sha256"))).status).toBe(200);
  const refused = await fetch(image(two, "metal-amd64.qcow2"));
  expect([refused.status, await refused.text()]).toEqual([
    400,
    expect.stringContaining(`"${NAME}" is not available for Talos version ${VERSION}`),
  ]);
  expect(await sha256Of(`${two}/api/v1/locks/${kept.id}/initramfs-amd64.xz`)).toBe(built);
  expect(await sha256Of(`${one}/api/v1/locks/${kept.id}/metal-amd64.qcow2`)).toMatch(/^[0-9a-f]{64}$/);

  const again = await sendJson(`${one}/api/v1/extensions/pins/${pin.id}/adopt`);
  expect([again.status, again.body.detail]).toEqual([409, `The source of ${NAME} was deleted`]);
  const gone = await sendJson(`${one}/api/v1/sources/${pin.sourceId}`, {}, {}, "DELETE");
  expect(gone.status).toBe(404);
});

test("an upload under the old name begins a new source", async () => {
  const archive = await packChaos(join(folder, "made"), { version: "v2.0.0" });
  const next = await uploadPin(archive, `${two}/api/v1/extensions/${NAME}`);
  expect(next.sourceId).not.toBe(pin.sourceId);
  await expect.poll(() => listed(one), { timeout: 2_000 }).toContain(NAME);
});
