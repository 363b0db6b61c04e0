/** Builds from a lock: files resolved from its digests instead of today's tags, and which of them are gone. */
import { digestHex } from "../../domain/digest.ts";
import { type LockBuilder, lockDifferences, type ModelLock, releaseOfLock } from "../../domain/model-lock.ts";
import { AppError, notFound } from "../../errors/app-error.ts";
import type { Descriptor, SourceImages, SourceMirror } from "../../oci/types.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { type AssetResolvingOptions, createAssetResolving } from "../assets/asset-resolving.ts";
import type { LockBuildService } from "../contracts.ts";
import { archHere } from "../inputs/host-arch.ts";
import { blobKey } from "../inputs/source-blobs.ts";
import { lockId } from "./locks.ts";

export interface LockBuildsOptions {
  resolving: Omit<AssetResolvingOptions, "releases" | "externalUrl">;
  images: Pick<SourceImages, "platformManifest"> & Pick<SourceMirror, "findBlob" | "holdsBlob">;
  store: Pick<ObjectStore, "head">;
  builder: LockBuilder;
}

type Input = { repository: string; digest: string; arch: string };

/** The service. Addresses and digests are those of the lock; tools, operations and keys are those of this factory. */
export function createLockBuilds(options: LockBuildsOptions): LockBuildService {
  return {
    async resolve(lock, path) {
      const release = releaseOfLock(lock);
      const resolve = createAssetResolving({
        ...options.resolving,
        externalUrl: lock.builder.externalUrl,
        releases: { require: () => Promise.resolve(release) },
      });
      const asset = await resolve({ schematicId: lock.schematic, version: lock.version, path });
      const { plan, profile } = asset;
      const needs = { operations: plan.steps.map(({ op }) => op), secureBoot: profile.secureboot };
      return {
        asset: { ...asset, lockId: lockId(lock) },
        differences: lockDifferences(lock.builder, options.builder, needs),
      };
    },
    async requireInputs(lock, { plan }, signal) {
      const inputs = new Map<string, Input>();
      for (const { repository, digest, arch } of plan.inputs)
        inputs.set(`${digest} ${arch}`, { repository, digest, arch: archHere(arch) });
      const gone = await Promise.all([...inputs.values()].map((input) => whyGone(options, input, signal)));
      const reasons = [...new Set(gone.flatMap((reason) => reason ?? []))];
      if (reasons.length > 0) throw inputsGone(lock, reasons);
    },
  };
}

/** Null when image and layers are in our store or can be fetched; a source that is away is a failure of its own. */
async function whyGone(
  { images, store }: LockBuildsOptions,
  { repository, digest, arch }: Input,
  signal: AbortSignal,
): Promise<string | null> {
  const name = `${repository}@${digest}`;
  let blobs: Descriptor[];
  try {
    const { manifest } = await images.platformManifest(repository, digest, arch, signal);
    blobs = [manifest.config, ...manifest.layers];
  } catch (error) {
    if (error instanceof AppError && error.code === "not_found") return name;
    throw error;
  }
  const held = await Promise.all(
    blobs.map(
      async ({ digest: blob, size }) =>
        (await images.holdsBlob(blob, size)) ||
        (await store.head(blobKey(digestHex(blob))))?.sizeBytes === size ||
        (await images.findBlob(repository, blob, signal)) !== null,
    ),
  );
  const lost = blobs.filter((_, index) => !held[index]);
  return lost.length === 0 ? null : `${name} (${lost.map((blob) => blob.digest).join(", ")})`;
}

const inputsGone = ({ version }: ModelLock, gone: string[]): AppError =>
  notFound(`the lock of ${version} cannot be built: gone from source and store: ${gone.join(", ")}`, {
    hint: "Push these images to the source registry again, or make a new lock of the schematic.",
    details: { gone },
  });
