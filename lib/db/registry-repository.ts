/** The tables of the registry: manifests with their bytes, which blobs a repository shows, what tags mean. */
import { z } from "zod";
import type {
  RegistryBlob,
  RegistryContent,
  RegistryManifest,
  RegistryTag,
} from "../domain/registry-content.ts";
import type { Database } from "./client.ts";
import type { RegistryManifest as ManifestRow } from "./generated/client.ts";
import { toJsonText } from "./json-text.ts";

export interface RegistryRepository {
  findTag(repository: string, tag: string): Promise<RegistryTag | null>;
  findManifest(repository: string, digest: string): Promise<RegistryManifest | null>;
  findBlob(repository: string, digest: string): Promise<RegistryBlob | null>;
  /** All tags in byte order. */
  tags(repository: string): Promise<string[]>;
  /** Manifests that say something about `subject`, oldest first. */
  referrers(repository: string, subject: string): Promise<RegistryManifest[]>;
  /** Makes all of it visible in one transaction. Known manifests and blobs stay, tags are moved. */
  put(content: RegistryContent): Promise<void>;
  /** Forgets the tags of images built here, so that the next pull builds again; their manifests stay. */
  forgetBuilt(repository: string): Promise<void>;
}

const annotationsSchema = z.record(z.string(), z.string());

/** The repository over one client. */
export function createRegistryRepository(db: Database): RegistryRepository {
  return {
    async findTag(repository, tag) {
      const row = await db.registryTag.findUnique({ where: { repository_tag: { repository, tag } } });
      return row === null ? null : { tag, digest: row.digest, planKey: row.planKey };
    },
    async findManifest(repository, digest) {
      const where = { repository_digest: { repository, digest } };
      const row = await db.registryManifest.findUnique({ where });
      return row === null ? null : toManifest(row);
    },
    async findBlob(repository, digest) {
      const where = { repository_digest: { repository, digest } };
      const row = await db.registryBlob.findUnique({ where });
      return row === null ? null : { digest, sizeBytes: Number(row.sizeBytes) };
    },
    async tags(repository) {
      const rows = await db.registryTag.findMany({ where: { repository }, select: { tag: true } });
      return rows.map((row) => row.tag).sort();
    },
    async referrers(repository, subject) {
      const where = { repository, subject };
      const rows = await db.registryManifest.findMany({
        where,
        orderBy: [{ createdAt: "asc" }, { digest: "asc" }],
      });
      return rows.map(toManifest);
    },
    put: (content) => put(db, content),
    async forgetBuilt(repository) {
      await db.registryTag.deleteMany({ where: { repository, planKey: { not: null } } });
    },
  };
}

async function put(db: Database, { repository, manifests, blobs, tags }: RegistryContent): Promise<void> {
  const rows = manifests.map(({ digest, mediaType, bytes, subject, artifactType, annotations }) => ({
    ...{ digest, subject, annotations },
    media_type: mediaType,
    hex: Buffer.from(bytes).toString("hex"),
    artifact_type: artifactType,
  }));
  const blobRows = blobs.map(({ digest, sizeBytes }) => ({ digest, size_bytes: sizeBytes }));
  const tagRows = tags.map(({ tag, digest, planKey }) => ({ tag, digest, plan_key: planKey }));
  await db.$transaction([
    db.$executeRaw`
      INSERT INTO registry_manifest (repository, digest, media_type, bytes, subject, artifact_type, annotations)
      SELECT ${repository}, digest, media_type, decode(hex, 'hex'), subject, artifact_type, annotations
      FROM jsonb_to_recordset(${toJsonText(rows)}::jsonb) AS new (
        digest text, media_type text, hex text, subject text, artifact_type text, annotations jsonb)
      ON CONFLICT DO NOTHING`,
    db.$executeRaw`
      INSERT INTO registry_blob (repository, digest, size_bytes)
      SELECT DISTINCT ON (digest) ${repository}, digest, size_bytes
      FROM jsonb_to_recordset(${toJsonText(blobRows)}::jsonb) AS new (digest text, size_bytes bigint)
      ON CONFLICT DO NOTHING`,
    db.$executeRaw`
      INSERT INTO registry_tag (repository, tag, digest, plan_key)
      SELECT ${repository}, tag, digest, plan_key
      FROM jsonb_to_recordset(${toJsonText(tagRows)}::jsonb) AS new (tag text, digest text, plan_key text)
      ON CONFLICT (repository, tag) DO UPDATE SET
        digest = excluded.digest, plan_key = excluded.plan_key, updated_at = now()`,
  ]);
}

function toManifest(row: ManifestRow): RegistryManifest {
  return {
    digest: row.digest,
    mediaType: row.mediaType,
    bytes: row.bytes,
    subject: row.subject,
    artifactType: row.artifactType,
    annotations: annotationsSchema.catch({}).parse(row.annotations),
  };
}
