/** What the registry offers to its routes, and how evidence about images joins it. */
import type { Readable } from "node:stream";
import type { RegistryContent } from "../../domain/registry-content.ts";
import type { RegistryRequest } from "../../domain/registry-path.ts";
import type { ByteRange } from "../../storage/object-store.ts";

export interface RegistryDocument {
  digest: string;
  mediaType: string;
  bytes: Uint8Array;
  /** Where clients are sent instead of giving them the bytes. */
  location?: string;
}

export interface RegistryBlobFile {
  digest: string;
  sizeBytes: number;
  /** Where clients are sent instead of giving them the bytes. */
  location?: string;
  open(range: ByteRange | undefined, signal: AbortSignal): Promise<Readable>;
}

export interface TagPage {
  name: string;
  tags: string[];
  /** True when there are more after these. */
  more: boolean;
}

export interface RegistryCall {
  requestId: string;
  signal: AbortSignal;
}

export type ReferrersCall = RegistryCall & { artifactType?: string };

/** `version` is the tag under which an installer was published, when it was asked for by that tag or by one like latest. */
export type FoundDocument = RegistryDocument & { version?: string };

/** What one kind of repository answers. Refusals carry `ociCode` among their details. */
export interface RegistryPart<Target> {
  manifest(target: Target, reference: string, call: RegistryCall): Promise<FoundDocument>;
  blob(target: Target, digest: string, call: RegistryCall): Promise<RegistryBlobFile>;
  referrers(target: Target, digest: string, call: ReferrersCall): Promise<RegistryDocument>;
  /** In any order. */
  tags(target: Target, call: RegistryCall): Promise<string[]>;
}

/** Refusals carry `ociCode` among their details. */
export interface RegistryService {
  /** Manifest by tag or digest. A version that was never pulled is built first. */
  manifest(request: RegistryRequest, call: RegistryCall & { accept?: string }): Promise<RegistryDocument>;
  blob(request: RegistryRequest, call: RegistryCall): Promise<RegistryBlobFile>;
  /** Index of what says something about a digest, only of one artifact type when given. */
  referrers(request: RegistryRequest, call: ReferrersCall): Promise<RegistryDocument>;
  tags(request: RegistryRequest, call: RegistryCall & { last?: string; most?: number }): Promise<TagPage>;
}

/** An image that is about to become visible. */
export interface NewImage {
  repository: string;
  tag: string;
  /** The index first, then the manifests of its platforms. */
  manifests: RegistryContent["manifests"];
}

/**
 * Makes signatures and other evidence about a new image. Its manifests and tags become visible together with the image,
 * never after it; blobs it names must lie in the object store already (key: blobKey in source-blobs.ts).
 */
export type ImageEvidence = (
  image: NewImage,
  call: RegistryCall,
) => Promise<Omit<RegistryContent, "repository">>;
