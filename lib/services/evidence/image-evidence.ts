/** What an installer gets before its tag may be seen: signatures, the bill of materials of each platform, its provenance. */
import { Readable } from "node:stream";
import { z } from "zod";
import type { RegistryRepository } from "../../db/registry-repository.ts";
import { digestHex } from "../../domain/digest.ts";
import type { ModelLock } from "../../domain/model-lock.ts";
import type { SignatureLayer } from "../../formats/image-signature.ts";
import { signatureTag } from "../../oci/signature.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { blobKey } from "../inputs/source-blobs.ts";
import type { ImageEvidence, NewImage, RegistryCall } from "../registry/contracts.ts";
import type { LockService, SbomService } from "./contracts.ts";
import type { EvidenceBlob, ImageSigning, ImageEvidence as Made, SignedImage } from "./image-signing.ts";

export interface ImageEvidenceOptions {
  signing: ImageSigning;
  sboms: SbomService;
  locks: LockService;
  store: ObjectStore;
  /** What was published before: signatures by other keys stay. */
  rows: Pick<RegistryRepository, "findTag" | "findManifest">;
  /** Base of every link; its host starts the name that people pull by. */
  externalUrl: string;
  /** Hears why a statement is missing; an image without its signature is never published. */
  onError: (error: unknown) => void;
}

/** Predicate types (in-toto attestation framework). */
const SPDX_PREDICATE = "https://spdx.dev/Document/v2.3";
const PROVENANCE_PREDICATE = "https://slsa.dev/provenance/v1";
/** docs/verify.md says what the parameters mean. */
const BUILD_TYPE = "urn:casthouse:installer:v1";

const indexSchema = z.object({
  manifests: z.array(z.object({ digest: z.string(), platform: z.object({ architecture: z.string() }) })),
});

const signaturesSchema = z.object({
  layers: z.array(
    z.object({
      mediaType: z.string(),
      size: z.number(),
      digest: z.string(),
      annotations: z.record(z.string(), z.string()),
    }),
  ),
});

/** The evidence of new images; blobs are in the store when it is given back. */
export function createImageEvidence(options: ImageEvidenceOptions): ImageEvidence {
  return async (image, call) => {
    const [index, ...platforms] = image.manifests;
    if (index === undefined) return { manifests: [], blobs: [], tags: [] };
    const signed = toSigned(options, image, index);
    const made = [await sign(options, image, index)];
    const lock = await provided(options, () => options.locks.lock(schematicOf(image), image.tag));
    if (lock !== null)
      made.push(options.signing.attest(signed, PROVENANCE_PREDICATE, provenance(options, image, lock)));
    const arches = archesOf(index.bytes);
    for (const manifest of platforms) {
      // Machines that resolve tags themselves ask for the signature of their platform's manifest.
      made.push(await sign(options, image, manifest));
      const arch = arches.get(manifest.digest);
      const sbom = arch && (await provided(options, () => sbomOf(options, image, arch, call)));
      if (sbom) made.push(options.signing.attest(toSigned(options, image, manifest), SPDX_PREDICATE, sbom));
    }
    const blobs = uniqueBlobs(made);
    for (const blob of blobs) await keep(options.store, blob, call.signal);
    return {
      manifests: made.flatMap((one) => one.manifests),
      blobs: blobs.map(({ digest, bytes }) => ({ digest, sizeBytes: bytes.length })),
      tags: made.flatMap((one) => one.tags).map((tag) => ({ ...tag, planKey: null })),
    };
  };
}

async function sign(
  options: ImageEvidenceOptions,
  image: NewImage,
  manifest: NewImage["manifests"][number],
): Promise<Made> {
  const { signing, rows } = options;
  const tag = await rows.findTag(image.repository, signatureTag(manifest.digest));
  const earlier = tag && (await rows.findManifest(image.repository, tag.digest));
  const signed = toSigned(options, image, manifest);
  return signing.sign(signed, earlier === null ? [] : layersOf(earlier.bytes));
}

function layersOf(manifest: Uint8Array): SignatureLayer[] {
  return signaturesSchema.parse(JSON.parse(Buffer.from(manifest).toString("utf8"))).layers;
}

async function provided<T>({ onError }: ImageEvidenceOptions, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    onError(error);
    return null;
  }
}

function toSigned(
  { externalUrl }: ImageEvidenceOptions,
  { repository }: NewImage,
  { mediaType, digest, bytes }: NewImage["manifests"][number],
): SignedImage {
  return { mediaType, digest, size: bytes.length, reference: `${new URL(externalUrl).host}/${repository}` };
}

/** "installer/<schematic>" */
const schematicOf = ({ repository }: NewImage): string => repository.slice(repository.indexOf("/") + 1);

function archesOf(index: Uint8Array): Map<string, string> {
  const { manifests } = indexSchema.parse(JSON.parse(Buffer.from(index).toString("utf8")));
  return new Map(manifests.map(({ digest, platform }) => [digest, platform.architecture]));
}

async function sbomOf(
  { sboms }: ImageEvidenceOptions,
  image: NewImage,
  arch: string,
  { signal }: RegistryCall,
): Promise<unknown> {
  const request = { schematicId: schematicOf(image), version: image.tag, arch, format: "spdx" as const };
  const { bytes } = await sboms.document(request, { signal });
  return JSON.parse(Buffer.from(bytes).toString("utf8"));
}

/** SLSA provenance v1. Without times and request, so that the same inputs give the same statement. */
function provenance({ externalUrl }: ImageEvidenceOptions, image: NewImage, lock: ModelLock): unknown {
  const { repository, tag } = image;
  return {
    buildDefinition: {
      buildType: BUILD_TYPE,
      externalParameters: { image: repository, schematic: lock.schematic, version: tag },
      resolvedDependencies: [
        {
          name: "schematic",
          uri: `${externalUrl}/schematics/${lock.schematic}`,
          digest: { sha256: lock.schematic },
        },
        ...lock.inputs.map(({ kind, name, ref, digest }) => ({
          name: `${kind}:${name}`,
          uri: `oci://${ref}`,
          digest: { sha256: digestHex(digest) },
        })),
      ],
    },
    runDetails: { builder: { id: externalUrl } },
  };
}

function uniqueBlobs(made: readonly Made[]): EvidenceBlob[] {
  const blobs = made.flatMap((one) => one.blobs).map((blob): [string, EvidenceBlob] => [blob.digest, blob]);
  return [...new Map(blobs).values()];
}

async function keep(store: ObjectStore, { digest, bytes }: EvidenceBlob, signal: AbortSignal): Promise<void> {
  const key = blobKey(digestHex(digest));
  const found = await store.head(key);
  if (found?.sizeBytes === bytes.length) return;
  await store.put(key, Readable.from([Buffer.from(bytes)]), { signal });
}
