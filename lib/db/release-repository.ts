/** The table of releases: the last good list of the source, served while the registry is away. */
import { z } from "zod";
import type { ReleaseRecord } from "../domain/release-record.ts";
import type { Database } from "./client.ts";
import type { Release as ReleaseRow } from "./generated/client.ts";
import { toJsonText } from "./json-text.ts";

export interface ReleaseRepository {
  /** All remembered releases of this registry; rows that cannot be read any more are left out. */
  load(registry: string): Promise<ReleaseRecord[]>;
  /** One release as it was last read, also when it was withdrawn since; null when it never was, or cannot be read any more. */
  find(version: string): Promise<ReleaseRecord | null>;
  /** Makes these the list; others that were read are kept as withdrawn. Does nothing for none. */
  replaceAll(records: ReleaseRecord[]): Promise<void>;
  /** Writes one release that was read meanwhile; a release that left the list is not brought back. */
  update(record: ReleaseRecord): Promise<void>;
}

/** State of rows that left the list. Files of such releases may have been built: those stay. */
const WITHDRAWN = "withdrawn";

const pinnedSchema = z.object({ repository: z.string(), digest: z.string() });
const rowSchema = z.object({
  state: z.enum(["complete", "incomplete", "broken", WITHDRAWN]),
  missing: z.array(z.string()),
  inputs: z.object({
    registry: z.string(),
    namesChecked: z.boolean(),
    read: z
      .object({
        registry: z.string(),
        imager: pinnedSchema,
        baseInstaller: pinnedSchema.nullable(),
        extensions: z.string(),
        overlays: z.string().nullable(),
      })
      .nullable(),
  }),
  extensions: z.array(
    z.object({
      name: z.string(),
      ref: z.string(),
      digest: z.string(),
      author: z.string(),
      description: z.string(),
    }),
  ),
  overlays: z.array(z.object({ name: z.string(), image: z.string(), ref: z.string(), digest: z.string() })),
});

/** The repository over one client. */
export function createReleaseRepository(db: Database): ReleaseRepository {
  return {
    async load(registry) {
      const rows = await db.release.findMany({ where: { state: { not: WITHDRAWN } } });
      const records = rows.map(recordOfRow).filter((record) => record !== null);
      return records.filter((record) => record.registry === registry);
    },
    async find(version) {
      const row = await db.release.findUnique({ where: { version } });
      return row === null ? null : recordOfRow(row);
    },
    async replaceAll(records) {
      // No source is without releases: an empty list is a mistake, and must not cost the last good one.
      if (records.length === 0) return;
      const versions = records.map((record) => record.version);
      await db.$transaction([
        db.$executeRaw`
          DELETE FROM release WHERE version <> ALL(${versions}::text[]) AND jsonb_typeof(inputs -> 'read') <> 'object'`,
        db.release.updateMany({ where: { version: { notIn: versions } }, data: { state: WITHDRAWN } }),
        db.$executeRaw`
          INSERT INTO release (version, state, missing, sample, inputs, extensions, overlays, checked_at)
          SELECT version, state, missing, sample, inputs, extensions, overlays, checked_at
          FROM jsonb_to_recordset(${toJsonText(records.map(toColumns))}::jsonb) AS new (
            version text, state text, missing jsonb, sample boolean, inputs jsonb,
            extensions jsonb, overlays jsonb, checked_at timestamptz)
          ON CONFLICT (version) DO UPDATE SET
            state = excluded.state, missing = excluded.missing, sample = excluded.sample, inputs = excluded.inputs,
            extensions = excluded.extensions, overlays = excluded.overlays, checked_at = excluded.checked_at`,
      ]);
    },
    async update(record) {
      await db.$executeRaw`
        UPDATE release SET
          state = new.state, missing = new.missing, sample = new.sample, inputs = new.inputs,
          extensions = new.extensions, overlays = new.overlays
        FROM jsonb_to_recordset(${toJsonText([toColumns(record)])}::jsonb) AS new (
          version text, state text, missing jsonb, sample boolean, inputs jsonb, extensions jsonb, overlays jsonb)
        WHERE release.version = new.version AND release.state <> ${WITHDRAWN}`;
    },
  };
}

function toColumns(record: ReleaseRecord): Record<string, unknown> {
  const { version, state, missing, sample, registry, namesChecked, extensions, overlays, checkedAt } = record;
  const inputs = { registry, namesChecked, read: record.inputs };
  return {
    version,
    state,
    missing,
    sample,
    inputs,
    extensions,
    overlays,
    checked_at: checkedAt.toISOString(),
  };
}

function recordOfRow(row: ReleaseRow): ReleaseRecord | null {
  const parsed = rowSchema.safeParse(row);
  if (!parsed.success) return null;
  const { inputs, state, ...rest } = parsed.data;
  return {
    ...rest,
    state: state === WITHDRAWN ? "incomplete" : state,
    version: row.version,
    sample: row.sample,
    checkedAt: row.checkedAt,
    registry: inputs.registry,
    namesChecked: inputs.namesChecked,
    inputs: inputs.read,
  };
}
