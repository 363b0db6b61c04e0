/** The table of finished assets: what is in the object store under assets/, with its checksums. */
import type { AssetRecord } from "../domain/build-record.ts";
import type { Database } from "./client.ts";
import type { Asset } from "./generated/client.ts";

export interface AssetRepository {
  find(key: string): Promise<AssetRecord | null>;
  /** Those that are there, by key. */
  findMany(keys: string[]): Promise<Map<string, AssetRecord>>;
  /** Forgets an asset whose bytes are gone. The storage key must still be the one that was looked at; each build has its own. */
  forget(key: string, storageKey: string): Promise<void>;
  /** Median bytes of the assets that are there, by "<version>/<file name>". */
  usualSizes(): Promise<Record<string, number>>;
  /** Notes that these assets were served today. */
  touch(keys: string[]): Promise<void>;
  /** Number and bytes of ready files by kind, the largest first. */
  use(): Promise<{ name: string; count: number; sizeBytes: number }[]>;
}

/** The repository over one client. */
export function createAssetRepository(db: Database): AssetRepository {
  return {
    async find(key) {
      const row = await db.asset.findUnique({ where: { key } });
      return row === null ? null : toAssetRecord(row);
    },
    async findMany(keys) {
      if (keys.length === 0) return new Map();
      const rows = await db.asset.findMany({ where: { key: { in: keys } } });
      return new Map(rows.map((row) => [row.key, toAssetRecord(row)]));
    },
    async forget(key, storageKey) {
      await db.asset.deleteMany({ where: { key, storageKey } });
    },
    async usualSizes() {
      const rows = await db.$queryRaw<{ version: string; name: string; bytes: number }[]>`
        SELECT version, file_name AS name,
          (percentile_cont(0.5) WITHIN GROUP (ORDER BY size_bytes))::float8 AS bytes
        FROM asset GROUP BY version, file_name`;
      return Object.fromEntries(rows.map(({ version, name, bytes }) => [`${version}/${name}`, bytes]));
    },
    async touch(keys) {
      await db.$executeRaw`
        UPDATE asset SET last_served_at = now()
        WHERE key = ANY(${keys}::bpchar[]) AND last_served_at < now() - interval '1 hour'`;
    },
    async use() {
      const rows = await db.asset.groupBy({ by: ["kind"], _count: true, _sum: { sizeBytes: true } });
      return rows
        .map(({ kind, _count, _sum }) => ({
          name: kind,
          count: _count,
          sizeBytes: Number(_sum.sizeBytes ?? 0n),
        }))
        .sort((a, b) => b.sizeBytes - a.sizeBytes);
    },
  };
}

function toAssetRecord(row: Asset): AssetRecord {
  return {
    key: row.key,
    kind: row.kind,
    fileName: row.fileName,
    version: row.version,
    sha256: row.sha256,
    sha512: row.sha512,
    sizeBytes: Number(row.sizeBytes),
    storageKey: row.storageKey,
    inputs: row.inputs,
    builtBy: row.builtBy,
    builtInMs: row.builtInMs,
    createdAt: row.createdAt,
  };
}
