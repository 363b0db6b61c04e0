/** What own images take in our registry: measured over all of them, and claimed before bytes are kept. */
import { z } from "zod";
import { OFFERED_REPOSITORIES, OWN_REPOSITORIES } from "../domain/own-sources.ts";
import type { RegistryBlob } from "../domain/registry-content.ts";
import type { Database } from "./client.ts";
import { Prisma } from "./generated/client.ts";
import { toJsonText } from "./json-text.ts";

/** What is remembered of an image besides its blobs, its reports above all, counts as so much. */
export const PIN_BYTES = 2 ** 20;

export interface KeptBytes {
  /** Of all own images, retired ones and what is being kept now included; blobs that several have count once. */
  usedBytes: number;
  /** What the blobs that were asked about would add. */
  moreBytes: number;
}

export interface OwnKeptRepository {
  measure(blobs: readonly RegistryBlob[]): Promise<KeptBytes>;
  /**
   * Counts the blobs as kept in this repository from now on, unless all together would take more than `mostBytes`. Of
   * claims that are made at once one comes after the other, whichever process makes them. `claimed` are those that were
   * not there before; null when there was no room.
   */
  claim(
    repository: string,
    blobs: readonly RegistryBlob[],
    mostBytes: number,
  ): Promise<KeptBytes & { claimed: string[] | null }>;
  /** Takes claims back. */
  unclaim(repository: string, digests: readonly string[]): Promise<void>;
}

/** Number of the advisory lock of whoever claims. */
const CLAIMING_LOCK = 7_230_119;
const CLAIM_MS = { maxWait: 20_000, timeout: 20_000 };

const measured = z.array(z.object({ used: z.coerce.number(), more: z.coerce.number() })).length(1);

type Asking = Pick<Database, "$queryRaw">;

/** The repository over one client. */
export function createOwnKeptRepository(db: Database): OwnKeptRepository {
  return {
    measure: (blobs) => measure(db, blobs),
    claim: (repository, blobs, mostBytes) =>
      db.$transaction(async (alone) => {
        await alone.$queryRaw`SELECT true AS got FROM pg_advisory_xact_lock(${CLAIMING_LOCK}::bigint)`;
        const kept = await measure(alone, blobs);
        if (kept.usedBytes + kept.moreBytes > mostBytes) return { ...kept, claimed: null };
        const rows = await alone.$queryRaw<{ digest: string }[]>`
          INSERT INTO registry_blob (repository, digest, size_bytes)
          SELECT DISTINCT ON (digest) ${repository}, digest, size_bytes FROM ${recordsOf(blobs)}
          ON CONFLICT DO NOTHING
          RETURNING digest`;
        return { ...kept, claimed: rows.map(({ digest }) => digest) };
      }, CLAIM_MS),
    async unclaim(repository, digests) {
      await db.registryBlob.deleteMany({ where: { repository, digest: { in: [...digests] } } });
    },
  };
}

const recordsOf = (blobs: readonly RegistryBlob[]) => {
  const rows = blobs.map(({ digest, sizeBytes }) => ({ digest, size_bytes: sizeBytes }));
  return Prisma.sql`jsonb_to_recordset(${toJsonText(rows)}::jsonb) AS wanted (digest text, size_bytes bigint)`;
};

const mine = Prisma.sql`(starts_with(repository, ${OWN_REPOSITORIES}) OR starts_with(repository, ${OFFERED_REPOSITORIES}))`;

async function measure(db: Asking, blobs: readonly RegistryBlob[]): Promise<KeptBytes> {
  const rows = await db.$queryRaw`
    WITH kept AS (SELECT DISTINCT ON (digest) digest, size_bytes FROM registry_blob WHERE ${mine}),
      documents AS (SELECT DISTINCT ON (digest) octet_length(bytes) AS size FROM registry_manifest WHERE ${mine})
    SELECT
      (SELECT coalesce(sum(size_bytes), 0) FROM kept) + (SELECT coalesce(sum(size), 0) FROM documents)
        + (SELECT count(*) FROM own_pin) * ${PIN_BYTES}::bigint AS used,
      (SELECT coalesce(sum(size_bytes), 0) FROM (
        SELECT DISTINCT ON (digest) digest, size_bytes FROM ${recordsOf(blobs)}) AS news
        WHERE digest NOT IN (SELECT digest FROM kept)) AS more`;
  const [row] = measured.parse(rows);
  return { usedBytes: row?.used ?? 0, moreBytes: row?.more ?? 0 };
}
