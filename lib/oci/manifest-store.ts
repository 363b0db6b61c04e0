/** Manifests by digest are kept like blobs: they never change, and every machine has them when the registry is away. */
import { isDigest } from "../domain/digest.ts";
import type { BlobCache } from "./blob-cache.ts";
import { toResolvedManifest } from "./manifest.ts";
import { imageName, MAX_MANIFEST_BYTES, type RegistryClient } from "./registry-client.ts";
import type { ResolvedManifest } from "./types.ts";

export class ManifestStore {
  readonly #client: RegistryClient;
  readonly #blobs: BlobCache;

  constructor(client: RegistryClient, blobs: BlobCache) {
    this.#client = client;
    this.#blobs = blobs;
  }

  /** Address of the registry for messages. */
  get registry(): string {
    return this.#client.name;
  }

  /** The manifest under a digest (from what is kept when it is there) or under a tag (always asked); null when there is none. */
  async find(repository: string, reference: string, signal?: AbortSignal): Promise<ResolvedManifest | null> {
    const kept = isDigest(reference)
      ? await this.#blobs.readSmall(reference, MAX_MANIFEST_BYTES, signal)
      : null;
    if (kept) return toResolvedManifest(imageName(repository, reference), kept, null);
    const manifest = await this.#client.getManifest(repository, reference, signal);
    if (manifest) await this.#blobs.writeSmall(manifest.bytes, signal);
    return manifest;
  }
}
