/** Questions about a repository that only passing images on needs: how large is a blob, who refers to a manifest. */
import { isIndex, toResolvedManifest } from "./manifest.ts";
import { imageName, MAX_MANIFEST_BYTES, type RegistryClient } from "./registry-client.ts";
import { readWhole } from "./response-body.ts";
import { unavailable } from "./retry.ts";
import type { ResolvedManifest } from "./types.ts";

/** Size of a blob by HEAD, or by the head of a GET where the registry's storage does not know HEAD; null when absent. */
export async function findBlob(
  client: RegistryClient,
  repository: string,
  digest: string,
  signal?: AbortSignal,
): Promise<{ sizeBytes: number } | null> {
  const what = imageName(repository, digest);
  let response = await client.headBlob(repository, digest, signal);
  await response.discard();
  if (response.status === 404) return null;
  if (response.status !== 200 || response.headers.get("content-length") === null) {
    response = await client.openBlob(repository, digest, 0, signal);
    await response.discard();
  }
  const length = response.headers.get("content-length");
  const sizeBytes = Number(length);
  if (length === null || !Number.isSafeInteger(sizeBytes) || sizeBytes < 0)
    throw unavailable(what, "the registry does not say how large the blob is");
  return { sizeBytes };
}

/** The index of the referrers API (OCI distribution-spec 1.1); null when the registry does not have that API. */
export async function findReferrers(
  client: RegistryClient,
  repository: string,
  digest: string,
  signal?: AbortSignal,
): Promise<ResolvedManifest | null> {
  const what = `the referrers of ${imageName(repository, digest)}`;
  const response = await client.openReferrers(repository, digest, signal);
  if (response.status !== 200) {
    await response.discard();
    return null;
  }
  const bytes = await readWhole(response, what, MAX_MANIFEST_BYTES);
  const manifest = toResolvedManifest(what, bytes, response.headers.get("content-type"));
  return isIndex(what, manifest) ? manifest : null;
}
