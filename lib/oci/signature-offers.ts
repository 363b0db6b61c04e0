/** Looks up what a registry offers to prove an image with: bundles that refer to it, and cosign's signature tag. */
import { digestHex } from "../domain/digest.ts";
import { SIGN_PREDICATE, SIGNATURE_ANNOTATION, SIMPLE_SIGNING } from "../formats/image-signature.ts";
import { isIndex, parseImage, parseIndex } from "./manifest.ts";
import { imageName, type RegistryClient } from "./registry-client.ts";
import { type Evidence, MAX_BUNDLE_BYTES, MAX_PAYLOAD_BYTES, signatureTag } from "./signature.ts";
import { findReferrers } from "./source-mirror.ts";
import type { Descriptor } from "./types.ts";

export interface OfferContext {
  client: RegistryClient;
  /** Small verified blob of a repository. */
  fetchBlob: (repository: string, descriptor: Descriptor, signal: AbortSignal) => Promise<Uint8Array>;
}

/** How many of one form are looked at; people sign an image a few times at most. */
const MAX_OFFERS = 20;
const BUNDLE_PREFIX = "application/vnd.dev.sigstore.bundle";
const PREDICATE_ANNOTATION = "dev.sigstore.bundle.predicateType";

/** Everything of one form that stands beside the image, as far as it can be a signature. */
export async function* offered(
  context: OfferContext,
  form: Evidence["form"],
  image: { repository: string; digest: string },
  signal: AbortSignal,
): AsyncGenerator<Evidence> {
  const { repository, digest } = image;
  if (form === "payload") yield* payloads(context, repository, digest, signal);
  else yield* bundles(context, repository, digest, signal);
}

async function* payloads(
  { client, fetchBlob }: OfferContext,
  repository: string,
  digest: string,
  signal: AbortSignal,
): AsyncGenerator<Evidence> {
  const tag = signatureTag(digest);
  const found = await client.getManifest(repository, tag, signal);
  if (!found) return;
  const { layers } = parseImage(imageName(repository, tag), found);
  for (const layer of layers.slice(0, MAX_OFFERS)) {
    const { annotations = {}, mediaType, size } = layer;
    if (mediaType !== SIMPLE_SIGNING || size > MAX_PAYLOAD_BYTES) continue;
    if (annotations[SIGNATURE_ANNOTATION] === undefined) continue;
    yield { form: "payload", payload: await fetchBlob(repository, layer, signal), annotations };
  }
}

async function* bundles(
  context: OfferContext,
  repository: string,
  digest: string,
  signal: AbortSignal,
): AsyncGenerator<Evidence> {
  const { client, fetchBlob } = context;
  const referrers = await listReferrers(client, repository, digest, signal);
  for (const one of referrers.filter(mayBeSignature).slice(0, MAX_OFFERS)) {
    const found = await client.getManifest(repository, one.digest, signal);
    if (!found) continue;
    const { layers } = parseImage(imageName(repository, one.digest), found);
    const bundle = layers.find((layer) => isBundle(layer.mediaType));
    if (!bundle || bundle.size > MAX_BUNDLE_BYTES) continue;
    yield { form: "bundle", bundle: await fetchBlob(repository, bundle, signal) };
  }
}

/** The referrers API, or the index under the tag sha256-<hex> where the registry has none (OCI distribution-spec 1.1). */
async function listReferrers(
  client: RegistryClient,
  repository: string,
  digest: string,
  signal: AbortSignal,
): Promise<Descriptor[]> {
  const listed = await findReferrers(client, repository, digest, signal);
  const tag = `sha256-${digestHex(digest)}`;
  const index = listed ?? (await client.getManifest(repository, tag, signal));
  const what = imageName(repository, tag);
  return index && isIndex(what, index) ? parseIndex(what, index).manifests : [];
}

/** Referrers without a word of their kind are looked at; statements of another kind, like bills of materials, are not. */
function mayBeSignature({ artifactType, annotations }: Descriptor): boolean {
  const predicate = annotations?.[PREDICATE_ANNOTATION];
  if (predicate !== undefined && predicate !== SIGN_PREDICATE) return false;
  return artifactType === undefined || isBundle(artifactType);
}

const isBundle = (type: string): boolean => type.startsWith(BUNDLE_PREFIX);
