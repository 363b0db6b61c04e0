/** Presets and the status of the factory over real Postgres, Redis and a directory store. */

import { Readable } from "node:stream";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openStatus } from "../../api/status.ts";
import { createSchematicRepository } from "../../lib/db/schematic-repository.ts";
import { createOperationSide } from "../../lib/runtime/operation.ts";
import type { ReleaseService } from "../../lib/services/contracts.ts";
import { createSchematicService } from "../../lib/services/schematics/schematics.ts";
import { UsageRecorder } from "../../lib/services/usage-recorder.ts";
import { openWeb, temporaryFolder, type Web } from "../fixtures/build-world.ts";
import { fakeAsset } from "../fixtures/fake-plan.ts";
import { createMigratedDatabase } from "../fixtures/postgres.ts";
import { createTestRedis } from "../fixtures/redis.ts";

let web: Web;
let removeFolder: () => Promise<void>;
let operation: ReturnType<typeof createOperationSide>;
let schematic: string;
let secret: string;

const releases = {
  summaries: async () => [
    { version: "v1.14.0", state: "incomplete", missing: ["siderolabs/overlays"] },
    { version: "v1.13.2", state: "complete", missing: [] },
  ],
  status: () => ({ registry: "http://r", checkedAt: null, failure: null, verification: "off" }),
} as unknown as ReleaseService;

beforeAll(async () => {
  const { dir, remove } = await temporaryFolder();
  removeFolder = remove;
  const { url: redisUrl, prefix } = await createTestRedis();
  web = openWeb({ databaseUrl: await createMigratedDatabase(), redisUrl, prefix, dataDir: dir });
  const usage = new UsageRecorder(
    async () => undefined,
    () => undefined,
  );
  const schematics = createSchematicService({ repository: createSchematicRepository(web.db), usage });
  operation = createOperationSide({
    ...{ db: web.db, side: web, store: web.store, releases, schematics, now: Date.now },
    health: { readiness: async () => [] },
    log: pino({ level: "silent" }),
  });
  schematic = (await schematics.create("customization:\n  extraKernelArgs: [a b]\n")).id;
  secret = (await schematics.create("customization:\n  embeddedMachineConfiguration: x\n")).id;
});

afterAll(async () => {
  await web.close();
  await removeFolder();
});

test("a preset is kept, found by label, changed, copied and forgotten", async () => {
  const { presets } = operation;
  const made = await presets.create({ name: "Lab", labels: { env: "lab" }, schematic, version: "v1.13.2" });
  expect(await presets.require(made.id)).toEqual(made);
  await expect(presets.create({ name: "LAB", labels: {}, schematic })).rejects.toThrow('named "LAB" already');
  const copy = await presets.copy(made.id);
  expect(copy).toMatchObject({ name: "Lab 2", labels: { env: "lab" }, target: { version: "v1.13.2" } });
  expect((await presets.copy(made.id)).name).toBe("Lab 3");
  const changed = await presets.replace(copy.id, { name: "Other", labels: { env: "live" }, schematic });
  expect(changed).toMatchObject({ name: "Other", target: {} });
  const names = async (label: string) => (await presets.list(label)).map((preset) => preset.name);
  expect(await names("")).toEqual(["Lab", "Lab 3", "Other"]);
  expect(await names("env")).toEqual(["Lab", "Lab 3", "Other"]);
  expect(await names("env=live")).toEqual(["Other"]);
  expect(await names("none")).toEqual([]);
  await expect(presets.replace(copy.id, { name: "lab", labels: {}, schematic })).rejects.toThrow("already");
  await presets.remove(copy.id);
  await expect(presets.require(copy.id)).rejects.toThrow("There is no preset");
  await expect(presets.remove(copy.id)).rejects.toThrow("There is no preset");
});

test("a document makes the same preset in another factory", async () => {
  const { presets } = operation;
  const made = await presets.create({ name: "Travels", labels: { a: "" }, schematic, arch: "arm64" });
  const { text } = await presets.document(made.id);
  await presets.remove(made.id);
  const back = await presets.restore(text);
  expect(back).toMatchObject({
    name: "Travels",
    labels: { a: "" },
    schematicId: schematic,
    target: { arch: "arm64" },
  });
});

test("what everybody may read holds no machine configuration, and nothing unknown is kept", async () => {
  const { presets } = operation;
  await expect(presets.create({ name: "s", labels: {}, schematic: secret })).rejects.toThrow(
    "A schematic with a machine configuration cannot become a preset",
  );
  await expect(presets.create({ name: "s", labels: {}, schematic: "0".repeat(64) })).rejects.toThrow(
    "is not stored here",
  );
});

test("a document that is refused leaves no schematic behind", async () => {
  const { presets } = operation;
  const made = await presets.create({ name: "Kept", labels: {}, schematic });
  const { text } = await presets.document(made.id);
  const count = () => web.db.schematic.count();
  const before = await count();
  const renamed = text.replace("Kept", "Fresh");
  const configured = renamed.replace(/^( +)extraKernelArgs:/m, "$1embeddedMachineConfiguration: x2\n$&");
  await expect(presets.restore(configured)).rejects.toThrow("cannot become a preset");
  await expect(presets.restore(text.replace("a b", "c d"))).rejects.toThrow('named "Kept" already');
  expect(await count()).toBe(before);
  await presets.restore(renamed.replace("a b", "c d"));
  expect(await count()).toBe(before + 1);
});

test("the status says what waits, who works, what lies in the store and what is reused", async () => {
  await web.assets.start(fakeAsset("waits", [{}]), { requestId: "r" });
  await web.presence.say({ name: "host-a/scope/1/n", slots: 2 });
  await web.store.put("parts/x/one", Readable.from([Buffer.alloc(1_000)]));
  web.downloads.note();
  web.downloads.note();
  const status = await operation.status.read();
  expect(status.builds).toMatchObject({ queued: 1, ready: 0 });
  expect(status.workers).toEqual([{ number: 1, host: "host-a", slots: 2, running: 0 }]);
  // What the API gives names no machine.
  const open = openStatus({
    ...status,
    checks: [{ name: "redis", ok: false, hint: "h", reason: "host-b is away" }],
  });
  expect(open).toMatchObject({ workers: [{ slots: 2, running: 0 }], checks: [{ hint: "h" }] });
  expect(JSON.stringify(open)).not.toContain("host-");
  expect(status.reuse).toMatchObject({ downloads: 2, built: 0 });
  expect(status.store.folders?.uses).toContainEqual({ name: "parts", count: 1, sizeBytes: 1_000 });
  expect(status.releases).toEqual({
    listed: 1,
    newest: "v1.13.2",
    incomplete: [{ version: "v1.14.0", missing: ["siderolabs/overlays"] }],
  });
});

test("without Redis the status still comes", async () => {
  web.redis.disconnect();
  const status = await operation.status.read();
  expect(status.workers).toBeNull();
  expect(status.reuse.downloads).toBeNull();
  expect(status.builds.queued).toBe(1);
});
