/** The list of what says something about a manifest (OCI distribution-spec 1.1, referrers). */
import { digestOf } from "../../domain/digest.ts";
import type { RegistryManifest } from "../../domain/registry-content.ts";
import { IMAGE_MEDIA, imageIndex } from "../../formats/image-documents.ts";
import type { RegistryDocument } from "./contracts.ts";

/** An index of the manifests, only of those of one artifact type when it is given. */
export function referrersIndex(
  manifests: RegistryManifest[],
  artifactType: string | undefined,
): RegistryDocument {
  const entries = manifests
    .filter((one) => artifactType === undefined || one.artifactType === artifactType)
    .map(({ mediaType, digest, bytes, artifactType: type, annotations }) => ({
      ...{ mediaType, digest, size: bytes.length },
      ...(type === null ? {} : { artifactType: type }),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    }));
  const bytes = imageIndex(entries);
  return { digest: digestOf(bytes), mediaType: IMAGE_MEDIA.index, bytes };
}
