/** Builds the installer of each platform and makes the image visible: index, manifests, blobs and tag at once. */
import { buffer } from "node:stream/consumers";
import { z } from "zod";
import type { RegistryRepository } from "../../db/registry-repository.ts";
import type { Arch } from "../../domain/asset.ts";
import { digestHex, digestOf } from "../../domain/digest.ts";
import { digestSchema } from "../../domain/digest-schemas.ts";
import type { RegistryBlob, RegistryContent, RegistryManifest } from "../../domain/registry-content.ts";
import { AppError } from "../../errors/app-error.ts";
import { IMAGE_MEDIA, imageIndex } from "../../formats/image-documents.ts";
import type { SourceImages } from "../../oci/types.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { AssetService, ReadyAsset, ResolvedAsset } from "../contracts.ts";
import { archHere } from "../inputs/host-arch.ts";
import { blobKey } from "../inputs/source-blobs.ts";
import type { ImageEvidence, RegistryCall } from "./contracts.ts";

export interface PublishOptions {
  assets: AssetService;
  images: Pick<SourceImages, "platformManifest">;
  store: ObjectStore;
  rows: RegistryRepository;
  evidence: ImageEvidence | null;
}

export interface PublishRequest {
  repository: string;
  tag: string;
  planKey: string;
  /** The plan of each platform. */
  platforms: { arch: Arch; asset: ResolvedAsset }[];
}

interface PlatformManifest {
  arch: Arch;
  manifest: RegistryManifest;
  blobs: RegistryBlob[];
}

/** Annotation of an index that says why a platform is left out. */
const OMITTED = "io.casthouse.omitted.";
const MOST_MANIFEST_BYTES = 1024 * 1024;

const blobSchema = z.object({
  digest: digestSchema,
  size: z.int().nonnegative(),
});
const manifestSchema = z.object({
  config: blobSchema,
  layers: z.array(blobSchema),
  annotations: z.record(z.string(), z.string()),
});

/**
 * Builds what is missing and publishes; gives the index. A platform for which a source image (an extension, the base) does
 * not exist is left out and named in the index; when that is true of all, the first reason is thrown.
 */
export async function publishInstaller(
  options: PublishOptions,
  request: PublishRequest,
  call: RegistryCall,
): Promise<RegistryManifest> {
  const checked = await Promise.all(
    request.platforms.map(async (one) => ({
      ...one,
      missing: await missingImage(options, one.asset, call.signal),
    })),
  );
  const present = checked.filter(({ missing }) => missing === null);
  const first = checked[0]?.missing;
  if (present.length === 0 && first) throw first;
  const platforms = await Promise.all(
    present.map(({ arch, asset }) => buildPlatform(options, arch, asset, call)),
  );
  const omitted = checked.flatMap(({ arch, missing }) =>
    missing ? [[OMITTED + arch, missing.message]] : [],
  );
  const index = makeIndex(platforms, Object.fromEntries(omitted));
  const manifests = [index, ...platforms.map(({ manifest }) => manifest)];
  const { repository, tag, planKey } = request;
  const added = (await options.evidence?.({ repository, tag, manifests }, call)) ?? NOTHING;
  await options.rows.put({
    repository,
    manifests: [...manifests, ...added.manifests],
    blobs: [...platforms.flatMap(({ blobs }) => blobs), ...added.blobs],
    tags: [{ tag, digest: index.digest, planKey }, ...added.tags],
  });
  return index;
}

const NOTHING: Omit<RegistryContent, "repository"> = { manifests: [], blobs: [], tags: [] };

/** Why the platform cannot be built, null when nothing is known to be missing. An unreachable source is no reason. */
async function missingImage(
  { images }: PublishOptions,
  asset: ResolvedAsset,
  signal: AbortSignal,
): Promise<AppError | null> {
  const wanted = asset.plan.inputs.filter(({ kind }) => kind === "image-tree" || kind === "image-layers");
  const reasons = await Promise.all(
    wanted.map(async ({ repository, digest, arch }) => {
      try {
        await images.platformManifest(repository, digest, archHere(arch), signal);
        return null;
      } catch (error) {
        if (error instanceof AppError && error.code === "not_found") return error;
        if (error instanceof AppError && error.code === "upstream_unavailable") return null;
        throw error;
      }
    }),
  );
  return reasons.find((reason) => reason !== null) ?? null;
}

async function buildPlatform(
  options: PublishOptions,
  arch: Arch,
  asset: ResolvedAsset,
  call: RegistryCall,
): Promise<PlatformManifest> {
  const { assets, store } = options;
  for (let attempt = 1; ; attempt += 1) {
    const ready = await ensure(assets, asset, call);
    const platform = await readManifest(assets, ready, arch, call.signal);
    const found = await Promise.all(
      platform.blobs.map(({ digest }) => store.head(blobKey(digestHex(digest)))),
    );
    const whole = found.every((object, index) => object?.sizeBytes === platform.blobs[index]?.sizeBytes);
    if (whole) return platform;
    if (attempt === 2)
      throw new AppError("internal", `a layer of ${asset.path} is missing in the object store`);
    await assets.discard(ready);
  }
}

/** Started for good: a client that loses patience and comes back finds the build going on. */
async function ensure(assets: AssetService, asset: ResolvedAsset, call: RegistryCall): Promise<ReadyAsset> {
  const ready = await assets.findReady(asset.assetKey);
  if (ready !== null) return ready;
  await assets.start(asset, { requestId: call.requestId });
  return assets.ensure(asset, call);
}

async function readManifest(
  assets: AssetService,
  ready: ReadyAsset,
  arch: Arch,
  signal: AbortSignal,
): Promise<PlatformManifest> {
  if (ready.sizeBytes > MOST_MANIFEST_BYTES) throw new AppError("internal", "a manifest is too large");
  const bytes = await buffer(await assets.open(ready, undefined, signal));
  const digest = digestOf(bytes);
  const parsed = manifestSchema.parse(JSON.parse(bytes.toString("utf8")));
  const blobs = [parsed.config, ...parsed.layers].map((blob) => ({
    digest: blob.digest,
    sizeBytes: blob.size,
  }));
  const { annotations } = parsed;
  const manifest = {
    digest,
    mediaType: IMAGE_MEDIA.manifest,
    bytes,
    subject: null,
    artifactType: null,
    annotations,
  };
  return { arch, manifest, blobs };
}

function makeIndex(platforms: PlatformManifest[], omitted: Record<string, string>): RegistryManifest {
  const entries = platforms.map(({ arch, manifest: { digest, mediaType, bytes } }) => ({
    ...{ mediaType, digest, size: bytes.length },
    platform: { architecture: arch, os: "linux" },
  }));
  const annotations = { ...platforms[0]?.manifest.annotations, ...omitted };
  const bytes = imageIndex(entries, annotations);
  const digest = digestOf(bytes);
  return { digest, mediaType: IMAGE_MEDIA.index, bytes, subject: null, artifactType: null, annotations };
}
