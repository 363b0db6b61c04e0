/** What a registry holds, as plain data: manifests, the blobs a repository may show, and tags. */

export interface RegistryManifest {
  /** sha256:<hex> of the bytes. */
  digest: string;
  mediaType: string;
  bytes: Uint8Array;
  /** Digest of the manifest this one says something about (OCI image-spec, `subject`). */
  subject: string | null;
  artifactType: string | null;
  annotations: Record<string, string>;
}

export interface RegistryBlob {
  digest: string;
  sizeBytes: number;
}

export interface RegistryTag {
  tag: string;
  digest: string;
  /** Which plans the image was built from; null for tags that are not built here. */
  planKey: string | null;
}

/** Everything that becomes visible at once in one repository. */
export interface RegistryContent {
  repository: string;
  manifests: RegistryManifest[];
  blobs: RegistryBlob[];
  tags: RegistryTag[];
}
