/** Signs an image for the registry: what must be stored beside it before its tag may be seen. Pure but for the key. */
import { createHash } from "node:crypto";
import { digestOf } from "../../domain/digest.ts";
import type { RegistryManifest } from "../../domain/registry-content.ts";
import { type BlobDescriptor, IMAGE_MEDIA } from "../../formats/image-documents.ts";
import {
  BUNDLE_MEDIA_TYPE,
  bundleAnnotations,
  bundleManifest,
  EMPTY_JSON,
  SIGN_PREDICATE,
  SIGNATURE_ANNOTATION,
  type SignatureLayer,
  signatureConfig,
  signatureLayer,
  signatureManifest,
  simpleSigningPayload,
  statement,
} from "../../formats/image-signature.ts";
import { SOURCE_DATE_EPOCH } from "../../imager/epoch.ts";
import { type DigestSigner, statementBundle } from "../../keys/sigstore-bundle.ts";
import { signatureTag } from "../../oci/signature.ts";

export interface EvidenceBlob {
  /** sha256:<hex>. */
  digest: string;
  bytes: Uint8Array;
}

/** What must be in the repository of the image, all of it, before a tag of the image is. */
export interface ImageEvidence {
  manifests: RegistryManifest[];
  blobs: EvidenceBlob[];
  tags: { tag: string; digest: string }[];
}

/** An image, manifest or index, as a repository holds it. */
export interface SignedImage extends BlobDescriptor {
  /** Name without tag that people pull it by: "factory.example.com/installer/<schematic>". */
  reference: string;
}

export interface ImageSigning {
  /**
   * Signature by tag (cosign 1 and 2) and as a Sigstore bundle (cosign 3); equal images give equal bytes. `earlier` are
   * signatures that the tag holds already: those of other keys stay behind the new one.
   */
  sign(image: SignedImage, earlier?: readonly SignatureLayer[]): ImageEvidence;
  /** A signed in-toto statement about an image, as a referrer. */
  attest(image: SignedImage, predicateType: string, predicate: unknown): ImageEvidence;
}

/** Of one image; the oldest go. */
const MOST_SIGNATURES = 10;
const CREATED = new Date(SOURCE_DATE_EPOCH * 1000).toISOString().replace(".000Z", "Z");

/** Signing with one key. */
export function createImageSigning(signer: DigestSigner): ImageSigning {
  const attest: ImageSigning["attest"] = (image, type, predicate) =>
    bundleReferrer(image, type, statement(image.digest, type, predicate), signer);
  return {
    attest,
    sign(image, earlier = []) {
      const parts = [signatureByTag(image, signer, earlier), attest(image, SIGN_PREDICATE, {})];
      return {
        manifests: parts.flatMap((part) => part.manifests),
        blobs: parts.flatMap((part) => part.blobs),
        tags: parts.flatMap((part) => part.tags),
      };
    },
  };
}

function signatureByTag(
  image: SignedImage,
  signer: DigestSigner,
  earlier: readonly SignatureLayer[],
): ImageEvidence {
  const payload = blob(simpleSigningPayload(image.reference, image.digest));
  const signature = Buffer.from(signer.signDigest(sha256(payload.bytes))).toString("base64");
  const own = signatureLayer(sizeOf(payload), signature);
  const isOwn = ({ digest, annotations }: SignatureLayer) =>
    digest === own.digest && annotations[SIGNATURE_ANNOTATION] === signature;
  const layers = [own, ...earlier.filter((layer) => !isOwn(layer))].slice(0, MOST_SIGNATURES);
  const config = blob(signatureConfig(layers));
  const manifest = blob(signatureManifest(sizeOf(config), layers));
  const about = { subject: null, artifactType: null, annotations: {} };
  return {
    manifests: [{ ...manifest, ...about, mediaType: IMAGE_MEDIA.manifest }],
    blobs: [payload, config],
    tags: [{ tag: signatureTag(image.digest), digest: manifest.digest }],
  };
}

function bundleReferrer(
  image: SignedImage,
  predicateType: string,
  body: unknown,
  signer: DigestSigner,
): ImageEvidence {
  const bundle = blob(statementBundle(body, signer, sha256));
  const empty = blob(EMPTY_JSON);
  const annotations = bundleAnnotations(predicateType, CREATED);
  const manifest = blob(bundleManifest(image, sizeOf(bundle), sizeOf(empty), annotations));
  const about = { subject: image.digest, artifactType: BUNDLE_MEDIA_TYPE, annotations };
  return {
    manifests: [{ ...manifest, ...about, mediaType: IMAGE_MEDIA.manifest }],
    blobs: [bundle, empty],
    tags: [],
  };
}

const sha256 = (bytes: Uint8Array): Uint8Array => createHash("sha256").update(bytes).digest();

const blob = (bytes: Uint8Array): EvidenceBlob => ({ digest: digestOf(bytes), bytes });

const sizeOf = ({ digest, bytes }: EvidenceBlob) => ({ digest, size: bytes.length });
