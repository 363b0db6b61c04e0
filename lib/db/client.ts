/** The one connection pool of a process to Postgres. */
import { PrismaPg } from "@prisma/adapter-pg";
import { PrismaClient } from "./generated/client.ts";

export type Database = PrismaClient;

export interface DatabaseOptions {
  /** Connections of this process, 10 unless given. */
  poolSize?: number;
}

/** A client with a pool of its own; connects on first use, `$disconnect()` ends it. */
export function createDatabase(url: string, options: DatabaseOptions = {}): Database {
  const adapter = new PrismaPg({
    connectionString: url,
    max: options.poolSize ?? 10,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
  });
  return new PrismaClient({ adapter });
}

/** One round trip; throws what the driver throws when Postgres does not answer. */
export async function checkDatabase(db: Database): Promise<void> {
  await db.$queryRaw`SELECT 1`;
}
