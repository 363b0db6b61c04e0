/** The images of the source registry as the rest of the program sees them: verified, cached, flattened. */
import { readFile } from "node:fs/promises";
import pLimit from "p-limit";
import { notFound } from "../errors/app-error.ts";
import type { RunTool } from "../exec/run.ts";
import { BlobCache, type SecondLevel } from "./blob-cache.ts";
import { downloadBlob } from "./blob-download.ts";
import { ImageVerifier } from "./image-verifier.ts";
import { extractLayers } from "./layer-extract.ts";
import { isIndex, parseImage, parseIndex, pickPlatform } from "./manifest.ts";
import { ManifestStore } from "./manifest-store.ts";
import {
  createRegistryClient,
  imageName,
  type RegistryClient,
  type RegistryClientOptions,
} from "./registry-client.ts";
import { findBlob, findReferrers } from "./source-mirror.ts";
import type {
  Descriptor,
  ExtractedTree,
  ExtractOptions,
  PlatformImage,
  SourceImages,
  SourceMirror,
} from "./types.ts";
import { signatureRule, type Verification } from "./verification.ts";

export interface SourceImagesOptions extends RegistryClientOptions {
  verify: Verification;
  /** Folder for blobs/ and signatures/; may be shared by processes of one machine. */
  cacheDir: string;
  run: RunTool;
  secondLevel?: SecondLevel;
  onWarning?: (message: string, cause: unknown) => void;
}

/** Blobs that are fetched at the same time by one process. */
const PARALLEL_DOWNLOADS = 8;

/** Opens the source registry; nothing is asked of it yet. invalid_input when the address or a file of `verify` is unusable. */
export function createSourceImages(options: SourceImagesOptions): SourceImages & SourceMirror {
  const client = createRegistryClient(options);
  const blobs = new BlobCache({
    dir: options.cacheDir,
    secondLevel: options.secondLevel,
    onWarning: options.onWarning,
  });
  const manifests = new ManifestStore(client, blobs);
  const fetchBlob = createBlobFetch(client, blobs, options);
  const verifier = openVerifier(client, fetchBlob, options);

  async function platformManifest(
    repository: string,
    digest: string,
    arch: string,
    signal?: AbortSignal,
  ): Promise<PlatformImage> {
    await verifier?.require(repository, digest, signal);
    return followPlatform(manifests, repository, digest, arch, signal);
  }

  return {
    tags: (repository, signal) => client.tags(repository, signal),
    findDigest: (repository, reference, signal) => client.headManifest(repository, reference, signal),
    findManifest: (repository, reference, signal) => manifests.find(repository, reference, signal),
    async resolveTag(repository, tag, signal) {
      const digest = await client.headManifest(repository, tag, signal);
      if (digest !== null) await verifier?.require(repository, digest, signal);
      return digest;
    },
    findBlob: (repository, digest, signal) => findBlob(client, repository, digest, signal),
    holdsBlob: (digest, sizeBytes) => blobs.holds(digest, sizeBytes),
    findReferrers: (repository, digest, signal) => findReferrers(client, repository, digest, signal),
    requireVerified: async (repository, digest, signal) => verifier?.require(repository, digest, signal),
    platformManifest,
    blob: fetchBlob,
    async extract(repository, digest, arch, dir, extractOptions = {}) {
      const { manifest } = await platformManifest(repository, digest, arch, extractOptions.signal);
      const what = imageName(repository, digest);
      return extractImage(
        fetchBlob,
        { repository, what, layers: manifest.layers },
        dir,
        options.run,
        extractOptions,
      );
    },
  };
}

/** Null where nothing is verified. */
function openVerifier(
  client: RegistryClient,
  fetchBlob: SourceImages["blob"],
  options: SourceImagesOptions,
): ImageVerifier | null {
  const rule = signatureRule(options.verify, options);
  if (rule === null) return null;
  return new ImageVerifier({
    ...{ client, rule, dir: options.cacheDir },
    fetchBlob: async (...blob) => readFile(await fetchBlob(...blob)),
  });
}

function createBlobFetch(
  client: RegistryClient,
  blobs: BlobCache,
  options: SourceImagesOptions,
): SourceImages["blob"] {
  const limit = pLimit(PARALLEL_DOWNLOADS);
  return async (repository, descriptor, signal, onBytes) => {
    const total = descriptor.size;
    const path = await blobs.get(
      { digest: descriptor.digest, sizeBytes: total },
      (file, shared, report) =>
        limit(() =>
          downloadBlob(client, repository, descriptor, file, {
            signal: shared,
            onBytes: report,
            ...(options.retry ? { retry: options.retry } : {}),
            ...(options.clock ? { clock: options.clock } : {}),
          }),
        ),
      { signal, onBytes: onBytes && ((received) => onBytes(received, total)) },
    );
    onBytes?.(total, total);
    return path;
  };
}

async function followPlatform(
  manifests: ManifestStore,
  repository: string,
  digest: string,
  arch: string,
  signal?: AbortSignal,
): Promise<PlatformImage> {
  const what = imageName(repository, digest);
  const top = await manifests.find(repository, digest, signal);
  if (!top) throw notFound(`the image ${what} does not exist in ${manifests.registry}`);
  if (!isIndex(what, top)) {
    const manifest = parseImage(what, top);
    return { digest, manifest, annotations: manifest.annotations ?? {} };
  }
  const index = parseIndex(what, top);
  const entry = pickPlatform(what, index, arch);
  const name = imageName(repository, entry.digest);
  const found = await manifests.find(repository, entry.digest, signal);
  if (!found)
    throw notFound(`${name}, the linux/${arch} image of ${what}, does not exist in ${manifests.registry}`);
  const manifest = parseImage(name, found);
  const annotations = { ...index.annotations, ...entry.annotations, ...manifest.annotations };
  return { digest: entry.digest, manifest, annotations };
}

/** Fetches all layers side by side, then applies them; the first failure stops the other downloads. */
async function extractImage(
  fetchBlob: SourceImages["blob"],
  image: { repository: string; what: string; layers: Descriptor[] },
  dir: string,
  run: RunTool,
  options: ExtractOptions,
): Promise<ExtractedTree> {
  const controller = new AbortController();
  const { signal } = options;
  const onAbort = () => controller.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    const files = await Promise.all(
      image.layers.map((layer) => fetchBlob(image.repository, layer, controller.signal)),
    );
    return await extractLayers(image.what, files, dir, run, options);
  } finally {
    signal?.removeEventListener("abort", onAbort);
    controller.abort();
  }
}
