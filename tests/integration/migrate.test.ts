/** The migration runner on a real Postgres. */
import { cp, mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { createDatabase } from "../../lib/db/client.ts";
import { migrate } from "../../lib/db/migrate.ts";
import { temporaryFolder } from "../fixtures/build-world.ts";
import { createTestDatabase } from "../fixtures/postgres.ts";

async function query<T extends pg.QueryResultRow>(url: string, sql: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<T>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function ownMigrations(): Promise<string> {
  const { dir, remove } = await temporaryFolder();
  onTestFinished(remove);
  await cp("prisma/migrations", dir, { recursive: true });
  return dir;
}

test("applies everything once, also when several processes start at the same time", async () => {
  const url = await createTestDatabase();
  const results = await Promise.all([migrate(url), migrate(url), migrate(url)]);
  const names = (await readdir("prisma/migrations")).filter((name) => /^\d{4}_/.test(name)).sort();
  expect(results.flatMap((result) => result.applied)).toEqual(names);
  const rows = await query<{ migration_name: string; checksum: string; applied_steps_count: number }>(
    url,
    "SELECT * FROM _prisma_migrations",
  );
  expect(rows).toHaveLength(names.length);
  expect(rows[0]).toMatchObject({ applied_steps_count: 1, logs: null, rolled_back_at: null });
  expect(rows[0]?.checksum).toMatch(/^[0-9a-f]{64}$/);
});

test("refuses a migration that was changed after it had been applied", async () => {
  const url = await createTestDatabase();
  const folder = await ownMigrations();
  await migrate(url, { folder });
  await writeFile(path.join(folder, "0001_init", "migration.sql"), "SELECT 1");
  await expect(migrate(url, { folder })).rejects.toThrow("migration 0001_init was changed");
});

test("a migration that fails leaves nothing behind and can be applied when it is repaired", async () => {
  const url = await createTestDatabase();
  const folder = await ownMigrations();
  const broken = path.join(folder, "9999_broken");
  await mkdir(broken);
  await writeFile(
    path.join(broken, "migration.sql"),
    "CREATE TABLE half (id int); SELECT nonsense FROM nowhere;",
  );
  await expect(migrate(url, { folder })).rejects.toThrow("migration 9999_broken failed");
  expect(await query(url, "SELECT 1 FROM pg_tables WHERE tablename = 'half'")).toEqual([]);
  await writeFile(path.join(broken, "migration.sql"), "CREATE TABLE half (id int);");
  expect((await migrate(url, { folder })).applied).toEqual(["9999_broken"]);
});

test("the migrations give exactly the tables, columns and nullability of prisma/schema.prisma", async () => {
  const url = await createTestDatabase();
  await migrate(url);
  const db = createDatabase(url);
  onTestFinished(() => db.$disconnect());
  // Prisma names every column it knows in each of these; a missing or misnamed one is an error.
  expect(await db.schematic.findMany()).toEqual([]);
  expect(await db.asset.findMany()).toEqual([]);
  expect(await db.build.findMany()).toEqual([]);
  expect(await db.release.findMany()).toEqual([]);
  expect(await db.registryManifest.findMany()).toEqual([]);
  expect(await db.registryBlob.findMany()).toEqual([]);
  expect(await db.registryTag.findMany()).toEqual([]);
  expect(await db.assetName.findMany()).toEqual([]);
  const optional = await query<{ column_name: string }>(
    url,
    "SELECT column_name FROM information_schema.columns WHERE table_name = 'build' AND is_nullable = 'YES' ORDER BY 1",
  );
  expect(optional.map((row) => row.column_name)).toEqual(
    [
      "error",
      "finished_at",
      "heartbeat_at",
      "lock_id",
      "note",
      "phase",
      "plan",
      "started_at",
      "worker",
    ].sort(),
  );
});

test("the database refuses a second running build of an asset and an unknown state", async () => {
  const url = await createTestDatabase();
  await migrate(url);
  const insert = (state: string) =>
    query(
      url,
      `INSERT INTO build (id, asset_key, schematic_id, version, path, plan, state, request_id)
       VALUES (gen_random_uuid(), repeat('a', 64), repeat('b', 64), 'v1', 'p', '{}', '${state}', 'r')`,
    );
  await insert("queued");
  await insert("failed");
  await expect(insert("uploading")).rejects.toThrow("build_one_running_per_asset");
  await expect(insert("done")).rejects.toThrow("build_state_known");
});
