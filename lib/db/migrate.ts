/** Applies prisma/migrations in order and writes them down as Prisma does, so that both can be used on one database. */
import { createHash, randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { Client } from "pg";
import { AppError } from "../errors/app-error.ts";

/** Number of the advisory lock that Prisma's own engine takes while it migrates. */
const PRISMA_MIGRATE_LOCK = 72_707_369;

export interface MigrateResult {
  /** Names of the migrations that this call applied. */
  applied: string[];
  /** Names that were there already. */
  known: string[];
}

export interface MigrateOptions {
  /** Folder of the migrations; prisma/migrations under the working folder unless given. */
  folder?: string;
  onApply?: (name: string) => void;
}

interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

/**
 * Brings a database to the newest schema. Safe to call from many processes at once: one works, the others wait.
 * Each migration is one transaction. conflict when an applied migration was changed afterwards or failed half-way.
 */
export async function migrate(databaseUrl: string, options: MigrateOptions = {}): Promise<MigrateResult> {
  const migrations = await readMigrations(options.folder ?? path.resolve("prisma/migrations"));
  const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    await client.query("SELECT pg_advisory_lock($1)", [PRISMA_MIGRATE_LOCK]);
    await client.query(CREATE_TABLE);
    const done = await appliedChecksums(client);
    const result: MigrateResult = { applied: [], known: [] };
    for (const migration of migrations) {
      const known = done.get(migration.name);
      if (known === undefined) {
        await apply(client, migration);
        options.onApply?.(migration.name);
        result.applied.push(migration.name);
      } else if (known === migration.checksum) result.known.push(migration.name);
      else throw changed(migration.name);
    }
    return result;
  } finally {
    await client.end();
  }
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => {
      const bytes = await readFile(path.join(folder, name, "migration.sql"));
      const checksum = createHash("sha256").update(bytes).digest("hex");
      return { name, sql: bytes.toString("utf8"), checksum };
    }),
  );
}

async function appliedChecksums(client: Client): Promise<Map<string, string>> {
  const rows = await client.query<{ migration_name: string; checksum: string; finished_at: Date | null }>(
    "SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL",
  );
  for (const row of rows.rows) {
    if (row.finished_at === null) {
      throw new AppError(
        "conflict",
        `migration ${row.migration_name} was started by another tool and did not finish`,
        {
          hint: "Look at the tables, then mark it with `prisma migrate resolve`.",
        },
      );
    }
  }
  return new Map(rows.rows.map((row) => [row.migration_name, row.checksum]));
}

async function apply(client: Client, migration: Migration): Promise<void> {
  await client.query("BEGIN");
  try {
    await client.query(migration.sql);
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, clock_timestamp(), clock_timestamp(), 1)`,
      [randomUUID(), migration.checksum, migration.name],
    );
    await client.query("COMMIT");
  } catch (cause) {
    await client.query("ROLLBACK");
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new AppError("internal", `migration ${migration.name} failed: ${reason}`, { cause });
  }
}

function changed(name: string): AppError {
  return new AppError(
    "conflict",
    `migration ${name} was changed after it had been applied to this database`,
    {
      hint: "Restore the file and put the change into a new migration.",
    },
  );
}

/** The table exactly as Prisma's engine makes it. */
const CREATE_TABLE = `
CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id                  VARCHAR(36) PRIMARY KEY NOT NULL,
  checksum            VARCHAR(64) NOT NULL,
  finished_at         TIMESTAMPTZ,
  migration_name      VARCHAR(255) NOT NULL,
  logs                TEXT,
  rolled_back_at      TIMESTAMPTZ,
  started_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
  applied_steps_count INTEGER NOT NULL DEFAULT 0
)`;
