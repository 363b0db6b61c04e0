/** How signatures stand beside an image in a registry: cosign's signature tag, and bundles that refer to the image. */
import { type BlobDescriptor, IMAGE_MEDIA } from "./image-documents.ts";

/** Sigstore protobuf-specs, bundle v0.3. */
export const BUNDLE_MEDIA_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json";
export const SIMPLE_SIGNING = "application/vnd.dev.cosign.simplesigning.v1+json";
export const SIGNATURE_ANNOTATION = "dev.cosignproject.cosign/signature";
export const SIGNATURE_TYPE = "cosign container image signature";
/** Predicate type by which cosign tells a signature from other statements; its predicate is empty. */
export const SIGN_PREDICATE = "https://sigstore.dev/cosign/sign/v1";
/** OCI image-spec 1.1, "Guidelines for Artifact Usage": an artifact without a configuration. */
const EMPTY_CONFIG = "application/vnd.oci.empty.v1+json";
export const EMPTY_JSON: Uint8Array = new TextEncoder().encode("{}");

const encode = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

/** Payload of "simple signing" (containers/image, docs/atomic-signature.md): this name stands for this digest. */
export function simpleSigningPayload(reference: string, digest: string): Uint8Array {
  return encode({
    critical: {
      identity: { "docker-reference": reference },
      image: { "docker-manifest-digest": digest },
      type: SIGNATURE_TYPE,
    },
    optional: null,
  });
}

/** One signature: a payload, and what was signed of it. */
export interface SignatureLayer {
  mediaType: string;
  size: number;
  digest: string;
  annotations: Record<string, string>;
}

/** `signature` is base64. */
export function signatureLayer(
  payload: Omit<BlobDescriptor, "mediaType">,
  signature: string,
): SignatureLayer {
  return {
    mediaType: SIMPLE_SIGNING,
    size: payload.size,
    digest: payload.digest,
    annotations: { [SIGNATURE_ANNOTATION]: signature },
  };
}

/** Configuration of a signature image: layers that are no file systems. */
export function signatureConfig(layers: readonly SignatureLayer[]): Uint8Array {
  return encode({
    architecture: "",
    created: "0001-01-01T00:00:00Z",
    history: layers.map(() => ({ created: "0001-01-01T00:00:00Z" })),
    os: "",
    rootfs: { type: "layers", diff_ids: layers.map(({ digest }) => digest) },
    config: {},
  });
}

/** The image behind the tag sha256-<hex>.sig: one layer per signature. */
export function signatureManifest(
  config: Omit<BlobDescriptor, "mediaType">,
  layers: readonly SignatureLayer[],
): Uint8Array {
  return encode({
    schemaVersion: 2,
    mediaType: IMAGE_MEDIA.manifest,
    config: { mediaType: IMAGE_MEDIA.config, size: config.size, digest: config.digest },
    layers,
  });
}

/** An in-toto statement (v1) about an image. */
export function statement(digest: string, predicateType: string, predicate: unknown): unknown {
  const [algorithm = "", hex = ""] = digest.split(":");
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: [{ digest: { [algorithm]: hex } }],
    predicateType,
    predicate,
  };
}

/** The artifact that brings a bundle to its subject (cosign's bundle specification). */
export function bundleManifest(
  subject: BlobDescriptor,
  bundle: Omit<BlobDescriptor, "mediaType">,
  empty: Omit<BlobDescriptor, "mediaType">,
  annotations: Record<string, string>,
): Uint8Array {
  return encode({
    schemaVersion: 2,
    mediaType: IMAGE_MEDIA.manifest,
    artifactType: BUNDLE_MEDIA_TYPE,
    config: { mediaType: EMPTY_CONFIG, size: empty.size, digest: empty.digest },
    layers: [{ mediaType: BUNDLE_MEDIA_TYPE, size: bundle.size, digest: bundle.digest }],
    subject: { mediaType: subject.mediaType, size: subject.size, digest: subject.digest },
    annotations,
  });
}

/** Annotations by which clients find the bundle they want without reading it. */
export const bundleAnnotations = (predicateType: string, created: string): Record<string, string> => ({
  "dev.sigstore.bundle.content": "dsse-envelope",
  "dev.sigstore.bundle.predicateType": predicateType,
  "org.opencontainers.image.created": created,
});
