/** Brings images of own sources into our own registry, and reads them beside those of the source. */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { RegistryRepository } from "../../db/registry-repository.ts";
import { ARCHES, type Arch } from "../../domain/asset.ts";
import { OFFERED_REPOSITORIES, OWN_REPOSITORIES } from "../../domain/own-sources.ts";
import type { RegistryBlob, RegistryManifest } from "../../domain/registry-content.ts";
import { AppError, notFound } from "../../errors/app-error.ts";
import { isIndex, parseIndex } from "../../oci/manifest.ts";
import type { Descriptor, ResolvedManifest, SourceImages, SourceMirror } from "../../oci/types.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { storeBlobs } from "../registry/store-blobs.ts";
import type { OwnRoom } from "./room.ts";

/** `official` for all repositories but those below own/ and offered/, which lie in our own registry. */
export function withOwnImages<T extends SourceImages & SourceMirror>(official: T, own: T): T {
  const of = (repository: string): T =>
    repository.startsWith(OWN_REPOSITORIES) || repository.startsWith(OFFERED_REPOSITORIES) ? own : official;
  return {
    ...official,
    tags: (repository, ...rest) => of(repository).tags(repository, ...rest),
    findDigest: (repository, ...rest) => of(repository).findDigest(repository, ...rest),
    findManifest: (repository, ...rest) => of(repository).findManifest(repository, ...rest),
    resolveTag: (repository, ...rest) => of(repository).resolveTag(repository, ...rest),
    requireVerified: (repository, ...rest) => of(repository).requireVerified(repository, ...rest),
    platformManifest: (repository, ...rest) => of(repository).platformManifest(repository, ...rest),
    blob: (repository, ...rest) => of(repository).blob(repository, ...rest),
    extract: (repository, ...rest) => of(repository).extract(repository, ...rest),
    findBlob: (repository, ...rest) => of(repository).findBlob(repository, ...rest),
    holdsBlob: (...about) => official.holdsBlob(...about),
    findReferrers: (repository, ...rest) => of(repository).findReferrers(repository, ...rest),
  };
}

export interface FindRequest {
  /** Where it comes from. Its signature rule is applied to everything that is read. */
  images: SourceImages;
  repository: string;
  digest: string;
  maxBytes: number;
  signal: AbortSignal;
}

/** An image at its source, as its manifests tell it. */
export interface FoundImage {
  digest: string;
  platforms: Arch[];
  /** Bytes of its layers over all platforms, shared ones once. */
  sizeBytes: number;
  manifests: ResolvedManifest[];
  blobs: Descriptor[];
}

export interface KeepingPlace {
  store: ObjectStore;
  rows: RegistryRepository;
  room: OwnRoom;
}

/** What is on its way into the store gets there, whoever still waits for it: half an image would be counted nowhere. */
const unstopped = (): AbortSignal => new AbortController().signal;

/**
 * Reads the manifests of an image with those of its platforms that Talos runs on. too_large above `maxBytes`, not_found
 * when it has no such platform, and all failures of reading.
 */
export async function findImage(request: FindRequest): Promise<FoundImage> {
  const { images, repository, digest, signal } = request;
  const top = await requireManifest(images, repository, digest, signal);
  const platforms = await platformsOf(request, top);
  const blobs = uniqueBlobs(platforms.flatMap(({ blobs: parts }) => parts));
  const sizeBytes = blobs.reduce((sum, blob) => sum + blob.size, 0);
  if (sizeBytes > request.maxBytes) throw tooLarge(repository, digest, sizeBytes, request.maxBytes);
  const manifests = [top, ...platforms.map(({ manifest }) => manifest)];
  return { digest, platforms: platforms.map(({ arch }) => arch), sizeBytes, manifests, blobs };
}

/** The blobs of an image, as our registry knows them. */
export const blobsOf = ({ blobs }: FoundImage): RegistryBlob[] =>
  blobs.map(({ digest, size }) => ({ digest, sizeBytes: size }));

/** Copies an image that was read into our registry, bytes unchanged, so that its digest stays. Nothing has a tag there. */
export async function keepImage(
  place: KeepingPlace,
  image: FoundImage,
  from: { images: SourceImages; repository: string },
  to: { repository: string; scratch: string },
): Promise<void> {
  const blobs = blobsOf(image);
  await place.room.keep(to.repository, blobs, async () => {
    for (const blob of image.blobs) {
      const file = await from.images.blob(from.repository, blob, unstopped());
      await storeBlobs(place.store, [{ path: file, digest: blob.digest }], to.scratch, unstopped());
    }
  });
  const manifests = image.manifests.map(toRow);
  await place.rows.put({ repository: to.repository, manifests, blobs, tags: [] });
}

interface Platform {
  arch: Arch;
  manifest: ResolvedManifest;
  blobs: Descriptor[];
}

async function platformsOf(request: FindRequest, top: ResolvedManifest): Promise<Platform[]> {
  const { images, repository, digest, signal } = request;
  const what = `${repository}@${digest}`;
  const has = (arch: Arch) =>
    !isIndex(what, top) ||
    parseIndex(what, top).manifests.some(
      ({ platform }) => platform?.os === "linux" && platform.architecture === arch,
    );
  const platforms: Platform[] = [];
  for (const arch of ARCHES.filter(has)) {
    const image = await images.platformManifest(repository, digest, arch, signal);
    const manifest = await requireManifest(images, repository, image.digest, signal);
    platforms.push({ arch, manifest, blobs: [image.manifest.config, ...image.manifest.layers] });
  }
  if (platforms.length > 0) return platforms;
  throw notFound(`${what} has no image for linux/amd64 or linux/arm64`, {
    hint: "Build it for one of them; Talos runs on no other.",
  });
}

async function requireManifest(
  images: SourceImages,
  repository: string,
  digest: string,
  signal: AbortSignal,
): Promise<ResolvedManifest> {
  const found = await images.findManifest(repository, digest, signal);
  if (found !== null) return found;
  throw notFound(`the image ${repository}@${digest} does not exist`, {
    hint: "Check the reference, and whether the registry wants a password for it.",
  });
}

const uniqueBlobs = (blobs: Descriptor[]): Descriptor[] => [
  ...new Map(blobs.map((blob) => [blob.digest, blob])).values(),
];

const toRow = ({ digest, mediaType, bytes }: ResolvedManifest): RegistryManifest => ({
  ...{ digest, mediaType, bytes },
  ...{ subject: null, artifactType: null, annotations: {} },
});

function tooLarge(repository: string, digest: string, bytes: number, most: number): AppError {
  return new AppError("too_large", `${repository}@${digest} has ${bytes} bytes, more than ${most}`, {
    hint: "The operator can raise OWN_EXTENSIONS_MAX_SIZE.",
    retryable: false,
  });
}

/** A document of an image made here, with the bytes that its digest is of. */
export interface MadeDocument {
  digest: string;
  mediaType: string;
  bytes: Uint8Array;
}

export interface MadeImage {
  index: MadeDocument;
  manifests: MadeDocument[];
  configs: MadeDocument[];
  /** Layer files, by digest. */
  layers: { path: string; digest: string; sizeBytes: number }[];
}

/** Puts an image that was made here, from an upload, into our registry. */
export async function keepMadeImage(
  place: KeepingPlace,
  image: MadeImage,
  to: { repository: string; scratch: string },
): Promise<void> {
  const configs: { path: string; digest: string; sizeBytes: number }[] = [];
  for (const { digest, bytes } of image.configs) {
    const file = path.join(to.scratch, digest.replace(":", "-"));
    await writeFile(file, bytes);
    configs.push({ path: file, digest, sizeBytes: bytes.length });
  }
  const files = [...new Map([...configs, ...image.layers].map((blob) => [blob.digest, blob])).values()];
  const blobs = files.map(({ digest, sizeBytes }) => ({ digest, sizeBytes }));
  await place.room.keep(to.repository, blobs, () => storeBlobs(place.store, files, to.scratch, unstopped()));
  await place.rows.put({
    repository: to.repository,
    manifests: [image.index, ...image.manifests].map((one) => toRow({ ...one, json: null })),
    blobs,
    tags: [],
  });
}
