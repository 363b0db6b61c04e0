/** The table of names: which files of a schematic and version people have been given. */
import type { Database } from "./client.ts";

export interface AssetName {
  schematicId: string;
  /** With "v". */
  version: string;
  /** Last path segment without sidecar suffix, as it was asked for. */
  path: string;
}

export interface AssetNameRepository {
  /** A known name is left alone. */
  add(name: AssetName): Promise<void>;
  /** Names that were served, and those that were built for this schematic and not fetched yet; in byte order. */
  list(schematicId: string, version: string, limit: number): Promise<string[]>;
}

/** The repository over one client. */
export function createAssetNameRepository(db: Database): AssetNameRepository {
  return {
    async add({ schematicId, version, path }) {
      await db.$executeRaw`
        INSERT INTO asset_name (schematic_id, version, path) VALUES (${schematicId}, ${version}, ${path})
        ON CONFLICT DO NOTHING`;
    },
    async list(schematicId, version, limit) {
      const rows = await db.$queryRaw<{ path: string }[]>`
        SELECT path FROM asset_name WHERE schematic_id = ${schematicId} AND version = ${version}
        UNION
        SELECT path FROM build WHERE schematic_id = ${schematicId} AND version = ${version} AND state = 'ready'
        LIMIT ${limit}`;
      return rows.map((row) => row.path).sort();
    },
  };
}
