/** The JSON documents of a container image: configuration, manifests and indexes (OCI image-spec 1.1, docker save). */

export const IMAGE_MEDIA = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar+gzip",
} as const;

/** A blob as manifests name it. */
export interface BlobDescriptor {
  mediaType: string;
  /** sha256:<hex>. */
  digest: string;
  size: number;
}

export interface PlatformDescriptor extends BlobDescriptor {
  platform: { architecture: string; os: string };
}

export interface ImageConfigRequest {
  architecture: string;
  /** RFC 3339. */
  created: string;
  /** The `config` object of the base image, taken over whole. */
  base: Record<string, unknown>;
  /** Added to the labels of the base. */
  labels: Record<string, string>;
  /** Digests of the uncompressed layers, lowest first. */
  diffIds: readonly string[];
}

/** Layers carry no history of their own: one empty record each, as the base's history is not carried over. */
const NO_TIME = "0001-01-01T00:00:00Z";

/** The configuration of an image as bytes of JSON; what hashes to its digest. */
export function imageConfig(request: ImageConfigRequest): Uint8Array {
  const { architecture, created, base, labels, diffIds } = request;
  const own = base.Labels;
  const merged = { ...(typeof own === "object" && own !== null ? own : {}), ...labels };
  return encode({
    architecture,
    created,
    history: diffIds.map(() => ({ created: NO_TIME })),
    os: "linux",
    rootfs: { type: "layers", diff_ids: diffIds },
    config: { ...base, Labels: sorted(merged) },
  });
}

/** The manifest of one platform as bytes. */
export function imageManifest(
  config: BlobDescriptor,
  layers: readonly BlobDescriptor[],
  annotations: Record<string, string>,
): Uint8Array {
  return encode({
    schemaVersion: 2,
    mediaType: IMAGE_MEDIA.manifest,
    config,
    layers,
    annotations: sorted(annotations),
  });
}

/** The index over platforms as bytes. */
export function imageIndex(
  manifests: readonly (BlobDescriptor & Partial<PlatformDescriptor>)[],
  annotations: Record<string, string> = {},
): Uint8Array {
  const notes = Object.keys(annotations).length === 0 ? {} : { annotations: sorted(annotations) };
  return encode({ schemaVersion: 2, mediaType: IMAGE_MEDIA.index, manifests, ...notes });
}

/** `manifest.json` of an archive as docker save writes it. */
export function archiveManifest(reference: string, config: string, layers: readonly string[]): Uint8Array {
  return encode([{ Config: config, RepoTags: [reference], Layers: layers }]);
}

const encode = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

function sorted(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}
