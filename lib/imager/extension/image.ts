/** The documents of an extension's image: a configuration and a manifest for each architecture, and the index over them. */
import type { Arch } from "../../domain/asset.ts";
import { digestOf } from "../../domain/digest.ts";
import type { ExtensionMetadata } from "../../formats/extension-manifest.ts";
import {
  type BlobDescriptor,
  IMAGE_MEDIA,
  imageConfig,
  imageIndex,
  imageManifest,
} from "../../formats/image-documents.ts";
import { SOURCE_DATE_EPOCH } from "../epoch.ts";
import type { PackedLayer } from "./types.ts";

/** A document with the bytes that its digest is of. */
export interface ImageDocument {
  digest: string;
  mediaType: string;
  bytes: Uint8Array;
}

export interface ExtensionImage {
  index: ImageDocument;
  manifests: ImageDocument[];
  configs: ImageDocument[];
}

const CREATED = new Date(SOURCE_DATE_EPOCH * 1000).toISOString().replace(".000Z", "Z");

/** Equal layers and metadata give an equal image. */
export function extensionImage(
  layers: readonly { arch: Arch; layer: PackedLayer }[],
  metadata: ExtensionMetadata,
): ExtensionImage {
  const annotations = {
    "org.opencontainers.image.title": metadata.name,
    "org.opencontainers.image.version": metadata.version,
    "org.opencontainers.image.authors": metadata.author,
    "org.opencontainers.image.description": metadata.description.trim(),
  };
  const platforms = layers.map(({ arch, layer }) => {
    const config = documentOf(
      IMAGE_MEDIA.config,
      imageConfig({
        architecture: arch,
        created: CREATED,
        base: {},
        labels: annotations,
        diffIds: [layer.diffId],
      }),
    );
    const blob = { mediaType: IMAGE_MEDIA.layer, digest: layer.digest, size: layer.sizeBytes };
    const bytes = imageManifest(describe(config), [blob], annotations);
    return { arch, config, manifest: documentOf(IMAGE_MEDIA.manifest, bytes) };
  });
  const entries = platforms.map(({ arch, manifest }) => ({
    ...describe(manifest),
    platform: { architecture: arch, os: "linux" },
  }));
  return {
    index: documentOf(IMAGE_MEDIA.index, imageIndex(entries, annotations)),
    manifests: platforms.map(({ manifest }) => manifest),
    configs: platforms.map(({ config }) => config),
  };
}

function documentOf(mediaType: string, bytes: Uint8Array): ImageDocument {
  return { digest: digestOf(bytes), mediaType, bytes };
}

const describe = ({ digest, mediaType, bytes }: ImageDocument): BlobDescriptor => ({
  mediaType,
  digest,
  size: bytes.length,
});
