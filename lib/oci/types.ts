/** Shapes of the OCI image spec that the source client reads, and what the rest of the program asks of it. */

export interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
  annotations?: Record<string, string>;
  platform?: { architecture: string; os: string; variant?: string };
  artifactType?: string;
}

export interface ImageManifest {
  schemaVersion: 2;
  mediaType?: string;
  config: Descriptor;
  layers: Descriptor[];
  annotations?: Record<string, string>;
}

export interface ResolvedManifest {
  digest: string;
  mediaType: string;
  /** Exact bytes whose SHA-256 is the digest. */
  bytes: Uint8Array;
  json: unknown;
}

/** The image of one platform. */
export interface PlatformImage {
  /** Digest of the platform's own manifest. */
  digest: string;
  manifest: ImageManifest;
  /** Of the index, its entry and the manifest; the later wins. */
  annotations: Record<string, string>;
}

/** Access to the images of the source registry, by repository path and digest. What is used is checked; see each method. */
export interface SourceImages {
  /** All tags, following pagination. not_found when the repository does not exist. */
  tags(repository: string, signal?: AbortSignal): Promise<string[]>;
  /** Digest a tag or digest has in the registry now, null when there is none. For looking: no signature is checked. */
  findDigest(repository: string, reference: string, signal?: AbortSignal): Promise<string | null>;
  /** Manifest or index behind a tag or digest, null when there is none. For looking: no signature is checked. */
  findManifest(repository: string, reference: string, signal?: AbortSignal): Promise<ResolvedManifest | null>;
  /** Digest a tag points at now; null when the tag does not exist. Signature rules are applied here. */
  resolveTag(repository: string, tag: string, signal?: AbortSignal): Promise<string | null>;
  /** Returns when the signature rules allow using the image, at once when that is known; source_invalid when they do not. */
  requireVerified(repository: string, digest: string, signal?: AbortSignal): Promise<void>;
  /** Manifest of one platform: an index is followed to linux/<arch>, a single manifest is taken as it is. */
  platformManifest(
    repository: string,
    digest: string,
    arch: string,
    signal?: AbortSignal,
  ): Promise<PlatformImage>;
  /** Local path of a layer blob, downloaded (with resume), digest-checked and kept in the cache. */
  blob(
    repository: string,
    descriptor: Descriptor,
    signal?: AbortSignal,
    onBytes?: (received: number, total: number) => void,
  ): Promise<string>;
  /** Flattened tree (whiteouts applied, traversal refused) of one platform under dir; only paths that pass the filter. */
  extract(
    repository: string,
    digest: string,
    arch: string,
    dir: string,
    options?: ExtractOptions,
  ): Promise<ExtractedTree>;
}

/** Questions that only passing images on needs. */
export interface SourceMirror {
  /** Size of a blob that the repository has, null when it has none. */
  findBlob(repository: string, digest: string, signal?: AbortSignal): Promise<{ sizeBytes: number } | null>;
  /** True when this machine keeps the blob already: nothing is asked of the registry. */
  holdsBlob(digest: string, sizeBytes: number): Promise<boolean>;
  /** The index of what says something about a manifest; null when the registry has no such list. */
  findReferrers(repository: string, digest: string, signal?: AbortSignal): Promise<ResolvedManifest | null>;
}

export interface ExtractOptions {
  /** Cleaned relative path ("usr/install/amd64/vmlinuz"); true keeps the entry. Default: all. */
  filter?: (path: string) => boolean;
  maxEntries?: number;
  maxBytes?: number;
  signal?: AbortSignal;
}

export interface ExtractedTree {
  dir: string;
  /** PAX SCHILY.xattr.security.selinux labels by cleaned relative path. */
  selinuxLabels: Record<string, string>;
}
