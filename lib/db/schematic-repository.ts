/** The table of schematics: bytes by id, written once, never changed. */
import type { Database } from "./client.ts";
import { fromExactJson, toExactJsonText } from "./json-text.ts";

export interface SchematicRow {
  id: string;
  /** Exactly the bytes that hash to the id. */
  canonical: string;
  /** The decoded document as JSON; some canonical texts do not read back as what they were made from. */
  parsed: unknown;
}

export interface SchematicRepository {
  /** Stores all that are new in one statement; known ids stay untouched. */
  insertMany(rows: SchematicRow[]): Promise<void>;
  find(id: string): Promise<SchematicRow | null>;
  /** Those of the ids whose schematics carry a machine configuration. */
  findConfigured(ids: string[]): Promise<string[]>;
  /** Notes that these ids were used today. */
  touch(ids: string[]): Promise<void>;
}

/** The repository over one client. */
export function createSchematicRepository(db: Database): SchematicRepository {
  return {
    async insertMany(rows) {
      const ids = rows.map((row) => row.id);
      const texts = rows.map((row) => Buffer.from(row.canonical, "utf8").toString("hex"));
      const parsed = rows.map((row) => toExactJsonText(row.parsed));
      await db.$executeRaw`
        INSERT INTO schematic (id, canonical, parsed)
        SELECT id, decode(hex, 'hex'), parsed::jsonb
        FROM unnest(${ids}::text[], ${texts}::text[], ${parsed}::text[]) AS new (id, hex, parsed)
        ON CONFLICT (id) DO NOTHING`;
    },
    async find(id) {
      const row = await db.schematic.findUnique({ where: { id } });
      if (row === null) return null;
      return {
        id,
        canonical: Buffer.from(row.canonical).toString("utf8"),
        parsed: fromExactJson(row.parsed),
      };
    },
    async findConfigured(ids) {
      const rows = await db.$queryRaw<{ id: string }[]>`
        SELECT id FROM schematic
        WHERE id = ANY(${ids}::bpchar[])
          AND jsonb_exists(parsed -> 'customization', 'embeddedMachineConfiguration')`;
      return rows.map((row) => row.id);
    },
    async touch(ids) {
      await db.$executeRaw`
        UPDATE schematic SET last_used_at = now()
        WHERE id = ANY(${ids}::bpchar[]) AND last_used_at < now() - interval '1 hour'`;
    },
  };
}
