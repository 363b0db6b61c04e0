/** The test servers themselves: shared where that is safe, apart where it matters. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createMigratedDatabase, createTestDatabase } from "../fixtures/postgres.ts";
import { createTestRedis } from "../fixtures/redis.ts";
import { startRegistry } from "../fixtures/registry.ts";
import { startRedis } from "../fixtures/shared-servers.ts";

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "casthouse-fixtures-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

it("gives every test file a database of its own", async () => {
  const [one, two] = [await createTestDatabase(), await createTestDatabase()];
  await query(one, "create table only_here (x int)");
  expect(await query(two, "select 1 from pg_tables where tablename = 'only_here'")).toEqual([]);
});

it("gives migrated databases, the second one quickly", async () => {
  await createMigratedDatabase();
  const start = Date.now();
  const url = await createMigratedDatabase();
  expect(Date.now() - start).toBeLessThan(2_000);
  const tables = await query(url, "select tablename from pg_tables where schemaname = 'public' order by 1");
  expect(tables).toContainEqual({ tablename: "schematic" });
});

it("keeps Redis databases apart", async () => {
  const [one, two] = [await createTestRedis(), await createTestRedis()];
  const [a, b] = [new Redis(one.url), new Redis(two.url)];
  await a.set("x", "1");
  expect(await b.get("x")).toBeNull();
  expect(await a.config("GET", "maxmemory-policy")).toContain("noeviction");
  a.disconnect();
  b.disconnect();
});

it("brings a killed persistent Redis back with its data", async () => {
  const first = await startRedis(dir, { persistent: true });
  const client = new Redis(first.url);
  await client.set("kept", "yes");
  client.disconnect();
  process.kill(first.pid, "SIGKILL");
  const second = await startRedis(dir, { persistent: true, port: first.port });
  const again = new Redis(second.url);
  expect(await again.get("kept")).toBe("yes");
  again.disconnect();
  await second.stop();
});

it("starts a registry that takes and gives blobs", async () => {
  const registry = await startRegistry();
  const start = await fetch(`${registry.url}/v2/a/b/blobs/uploads/`, { method: "POST" });
  expect(start.status).toBe(202);
  await registry.stop();
  await expect(fetch(`${registry.url}/v2/`)).rejects.toThrow();
});
