/** Schematics on a real Postgres: stored once, read rarely, never lost. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, type Database } from "../../lib/db/client.ts";
import { createSchematicRepository, type SchematicRepository } from "../../lib/db/schematic-repository.ts";
import { createSchematicService } from "../../lib/services/schematics/schematics.ts";
import { UsageRecorder } from "../../lib/services/usage-recorder.ts";
import { createMigratedDatabase } from "../fixtures/postgres.ts";

let db: Database;
let repository: SchematicRepository;
const calls = { insert: 0, find: 0 };

beforeAll(async () => {
  db = createDatabase(await createMigratedDatabase());
  const real = createSchematicRepository(db);
  repository = {
    ...real,
    insertMany: (rows) => {
      calls.insert += 1;
      return real.insertMany(rows);
    },
    find: (id) => {
      calls.find += 1;
      return real.find(id);
    },
  };
});

afterAll(() => db.$disconnect());

const usage = () =>
  new UsageRecorder(
    (ids) => repository.touch(ids),
    () => undefined,
  );
const fresh = () => createSchematicService({ repository, usage: usage() });
const withArgument = (value: string) =>
  `customization:\n  extraKernelArgs:\n    - ${JSON.stringify(value)}\n`;

test("the empty schematic has its well-known id, and another process finds the same bytes", async () => {
  const stored = await fresh().create("customization: {}");
  expect(stored.id).toBe("376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba");
  expect(await fresh().find(stored.id)).toEqual(stored);
  const row = await db.schematic.findUniqueOrThrow({ where: { id: stored.id } });
  expect(Buffer.from(row.canonical).toString()).toBe("customization: {}\n");
});

test("the empty schematic is found before anybody has posted it, and stored by that", async () => {
  const id = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba";
  await db.schematic.deleteMany({ where: { id } });
  expect(await fresh().find(id)).toMatchObject({ id, canonical: "customization: {}\n" });
  expect(await db.schematic.count({ where: { id } })).toBe(1);
});

test("a known schematic costs no query in this process and one statement in another", async () => {
  const service = fresh();
  const text = withArgument("known");
  await service.create(text);
  calls.insert = 0;
  calls.find = 0;
  await service.create(text);
  await service.create(`# another spelling\n${text}`);
  const { id } = await service.create(text);
  await service.find(id);
  expect(calls).toEqual({ insert: 0, find: 0 });
  await fresh().create(text);
  expect(calls).toEqual({ insert: 1, find: 0 });
});

test("many at once, also the same ones in two processes, are all stored", async () => {
  const [a, b] = [fresh(), fresh()];
  const texts = Array.from({ length: 500 }, (_, i) => withArgument(`many=${i}`));
  const [left, right] = await Promise.all([
    Promise.all(texts.map((text) => a.create(text))),
    Promise.all(texts.toReversed().map((text) => b.create(text))),
  ]);
  expect(right.toReversed().map((stored) => stored.id)).toEqual(left.map((stored) => stored.id));
  expect(await db.schematic.count({ where: { id: { in: left.map((stored) => stored.id) } } })).toBe(500);
});

test("an unknown id is remembered as unknown until it is created", async () => {
  const service = fresh();
  const other = fresh();
  const { id } = await other.create(withArgument("negative")).then(async (stored) => {
    await db.schematic.delete({ where: { id: stored.id } });
    return stored;
  });
  calls.find = 0;
  expect(await service.find(id)).toBeNull();
  expect(await service.find(id)).toBeNull();
  expect(await service.find("not an id")).toBeNull();
  expect(await service.find(id.toUpperCase())).toBeNull();
  expect(calls.find).toBe(1);
  await service.create(withArgument("negative"));
  expect((await service.find(id))?.id).toBe(id);
});

test("one lookup serves all who ask at the same time", async () => {
  const { id } = await fresh().create(withArgument("together"));
  const service = fresh();
  calls.find = 0;
  await Promise.all(Array.from({ length: 50 }, () => service.find(id)));
  expect(calls.find).toBe(1);
});

test.each([
  ["NUL and controls", "a\0b\u0007"],
  ["a lone emoji", "😀"],
  ["line breaks", "\n leading\n"],
])("texts with %s come back exactly", async (_name, value) => {
  const stored = await fresh().create(withArgument(value));
  expect(await fresh().find(stored.id)).toEqual(stored);
});

test("tells which schematics carry a machine configuration", async () => {
  const service = fresh();
  const secret = await service.create("customization:\n  embeddedMachineConfiguration: |\n    machine: {}\n");
  const open = await service.create("customization: {}");
  expect(await repository.findConfigured([secret.id, open.id, "0".repeat(64)])).toEqual([secret.id]);
});
