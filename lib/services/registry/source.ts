/** The mirror half of the registry: images of the source, read through, verified by digest, kept in our own store. */
import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import type { RegistryRepository } from "../../db/registry-repository.ts";
import { digestHex, digestOf, isDigest } from "../../domain/digest.ts";
import { requireSourceComponent, type SourceRepository } from "../../domain/registry-path.ts";
import { AppError } from "../../errors/app-error.ts";
import { IMAGE_MEDIA, imageIndex } from "../../formats/image-documents.ts";
import { isTag } from "../../oci/reference.ts";
import type { ResolvedManifest, SourceImages, SourceMirror } from "../../oci/types.ts";
import type { ByteRange, ObjectStore } from "../../storage/object-store.ts";
import { blobKey } from "../inputs/source-blobs.ts";
import type { RegistryBlobFile, RegistryDocument, RegistryPart } from "./contracts.ts";
import { badDigest, badSubject, blobUnknown, manifestUnknown } from "./refusals.ts";

export interface SourceOptions {
  images: Pick<SourceImages, "tags" | "findDigest" | "findManifest" | "blob"> & SourceMirror;
  store: ObjectStore;
  rows: RegistryRepository;
}

/** Everything under siderolabs/. What was fetched once is also there while the source is away. */
export function createRegistrySource(options: SourceOptions): RegistryPart<SourceRepository> {
  return {
    async manifest(target, reference, { signal }) {
      requireSourceComponent(target);
      if (reference.includes(":") && !isDigest(reference)) throw badDigest(reference);
      if (!isDigest(reference) && !isTag(reference)) throw manifestUnknown(reference);
      return findManifest(options, target.repository, reference, signal);
    },
    async blob(target, digest, { signal }) {
      requireSourceComponent(target);
      if (!isDigest(digest)) throw badDigest(digest);
      return findBlob(options, target.repository, digest, signal);
    },
    async tags(target, { signal }) {
      requireSourceComponent(target);
      const { repository } = target;
      return unlessAway(
        () => options.images.tags(repository, signal),
        async () => {
          const known = await options.rows.tags(repository);
          return known.length === 0 ? null : known;
        },
      );
    },
    async referrers(target, digest, { artifactType, signal }) {
      requireSourceComponent(target);
      if (!isDigest(digest)) throw badSubject(digest);
      return findReferrers(options, target.repository, digest, artifactType, signal);
    },
  };
}

/** The answer of the source; when it cannot be reached, what is remembered, or the failure. */
async function unlessAway<T>(ask: () => Promise<T>, remember: () => Promise<T | null>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "upstream_unavailable") throw error;
    const remembered = await remember();
    if (remembered === null) throw error;
    return remembered;
  }
}

/** A digest is asked of the source once: what is kept of another repository, or of somebody's own images, does not count. */
async function findManifest(
  { images, rows }: SourceOptions,
  repository: string,
  reference: string,
  signal: AbortSignal,
): Promise<RegistryDocument> {
  const kept = isDigest(reference) ? await rows.findManifest(repository, reference) : null;
  if (kept !== null) return kept;
  return unlessAway<RegistryDocument>(
    async () => {
      const isThere =
        !isDigest(reference) || (await images.findDigest(repository, reference, signal)) !== null;
      const found = isThere ? await images.findManifest(repository, reference, signal) : null;
      if (found === null) throw manifestUnknown(reference);
      await remember(rows, repository, reference, found);
      return found;
    },
    async () => {
      const tag = isDigest(reference) ? null : await rows.findTag(repository, reference);
      return tag === null ? null : rows.findManifest(repository, tag.digest);
    },
  );
}

async function remember(
  rows: RegistryRepository,
  repository: string,
  reference: string,
  { digest, mediaType, bytes }: ResolvedManifest,
): Promise<void> {
  const tagged = !isDigest(reference);
  if (tagged && (await rows.findTag(repository, reference))?.digest === digest) return;
  await rows.put({
    repository,
    manifests: [{ digest, mediaType, bytes, subject: null, artifactType: null, annotations: {} }],
    blobs: [],
    tags: tagged ? [{ tag: reference, digest, planKey: null }] : [],
  });
}

/** A blob is shown only where the source shows it: one that was fetched for another repository does not count. */
async function findBlob(
  options: SourceOptions,
  repository: string,
  digest: string,
  signal: AbortSignal,
): Promise<RegistryBlobFile> {
  const { images, rows, store } = options;
  const key = blobKey(digestHex(digest));
  const known = await rows.findBlob(repository, digest);
  if (known !== null && (await store.head(key))?.sizeBytes === known.sizeBytes)
    return { ...known, open: (range, reading) => store.get(key, range, reading) };
  const found = known ?? (await images.findBlob(repository, digest, signal));
  if (found === null) throw blobUnknown(digest);
  const { sizeBytes } = found;
  const open = async (range: ByteRange | undefined, reading: AbortSignal) =>
    Readable.from(fetchAndRead(options, repository, { digest, sizeBytes }, range, reading));
  return { digest, sizeBytes, open };
}

/** The head of the answer goes out at once, the bytes when the whole blob is here and has the right digest. */
async function* fetchAndRead(
  { images, rows }: SourceOptions,
  repository: string,
  blob: { digest: string; sizeBytes: number },
  range: ByteRange | undefined,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const descriptor = { mediaType: "application/octet-stream", digest: blob.digest, size: blob.sizeBytes };
  const file = await images.blob(repository, descriptor, signal);
  await rows.put({ repository, manifests: [], blobs: [blob], tags: [] });
  yield* createReadStream(file, { ...range, highWaterMark: 1 << 20, signal });
}

/** The referrers API of the source, or the fallback tag that clients of older registries write (OCI distribution-spec 1.1). */
async function findReferrers(
  { images }: SourceOptions,
  repository: string,
  digest: string,
  artifactType: string | undefined,
  signal: AbortSignal,
): Promise<RegistryDocument> {
  const found =
    (await images.findReferrers(repository, digest, signal)) ??
    (await images.findManifest(repository, digest.replace(":", "-"), signal));
  const listed = found === null ? [] : entriesOf(found.json);
  if (found !== null && artifactType === undefined) return found;
  const bytes = imageIndex(listed.filter((entry) => entry.artifactType === artifactType));
  return { digest: digestOf(bytes), mediaType: IMAGE_MEDIA.index, bytes };
}

type Entry = Parameters<typeof imageIndex>[0][number] & { artifactType?: unknown };

function entriesOf(json: unknown): Entry[] {
  if (typeof json !== "object" || json === null || !("manifests" in json)) return [];
  return Array.isArray(json.manifests) ? json.manifests : [];
}
