/** Turns the source images of a model into parts of a bill of materials, and says where each record comes from. */
import type { Arch } from "../../domain/asset.ts";
import {
  type CatalogExtension,
  type CatalogOverlay,
  extensionImage,
  type Release,
} from "../../domain/release.ts";
import { orNull } from "../../errors/or-null.ts";
import { parseExtensionManifest } from "../../formats/extension-manifest.ts";
import { ociPurl, type SbomPart } from "../../formats/sbom/spdx-merge.ts";
import { parseSpdx } from "../../formats/sbom/spdx-types.ts";
import type { SourceTexts } from "./sbom-sources.ts";

export interface PartsContext {
  release: Release;
  arch: Arch;
  /** What references shown to people start with. */
  publicName: string;
}

const FROM_CATALOG = "The source has no bill of materials for this image;";

/** The release itself: its kernel, initramfs and boot loaders come out of the imager image. */
export function basePart({ release, arch, publicName }: PartsContext, texts: SourceTexts): SbomPart {
  const { imager, version, sample } = release;
  const { documents, said } = readDocuments(texts);
  const record = `${FROM_CATALOG} this record names the release only.`;
  return {
    name: imager.repository,
    version,
    author: "",
    description: sample
      ? "Sample release, not Talos Linux"
      : "Kernel, initramfs and boot loaders of the release",
    purl: ociPurl({ ...imager, registry: publicName, arch, tag: version }),
    purpose: "OPERATING_SYSTEM",
    comment: said ?? record,
    documents,
  };
}

/** Own images are pulled from here, all others from where the releases are. */
const registryOf = ({ ref, own }: CatalogExtension | CatalogOverlay, publicName: string): string =>
  own === undefined ? publicName : (ref.split("/", 1)[0] ?? publicName);

/** A system extension, by its own documents or by its manifest. */
export function extensionPart(
  { arch, publicName }: PartsContext,
  entry: CatalogExtension,
  texts: SourceTexts,
): SbomPart {
  const { documents, said } = readDocuments(texts);
  const metadata = readManifest(texts.manifest);
  const tag = tagOf(entry.ref);
  const source = metadata === null ? "its catalog entry" : "its manifest";
  return {
    name: entry.name,
    version: metadata?.version || tag,
    author: metadata?.author || entry.author,
    description: (metadata?.description || entry.description).trim(),
    purl: ociPurl({ ...extensionImage(entry), registry: registryOf(entry, publicName), arch, tag }),
    purpose: "INSTALL",
    comment: said ?? `${FROM_CATALOG} this record is made from ${source}.`,
    documents,
  };
}

/** A board overlay. Overlay images bring no documents. */
export function overlayPart({ arch, publicName }: PartsContext, entry: CatalogOverlay): SbomPart {
  const tag = tagOf(entry.ref);
  return {
    name: entry.image,
    version: tag,
    author: "",
    description: `Board overlay ${entry.name}`,
    purl: ociPurl({
      ...{ repository: entry.image, digest: entry.digest, arch, tag },
      registry: registryOf(entry, publicName),
    }),
    purpose: "INSTALL",
    comment: `${FROM_CATALOG} this record is made from its catalog entry.`,
    documents: [],
  };
}

function readDocuments(texts: SourceTexts) {
  const read = texts.documents.map(({ path, text }) => ({ path, document: parseSpdx(text) }));
  const good = read.flatMap(({ document }) => document ?? []);
  const damaged = read.filter(({ document }) => document === null).map(({ path }) => path);
  const used = read.filter(({ document }) => document !== null).map(({ path }) => path);
  const sentences = [
    ...(used.length > 0 ? [`Contents as listed by the image itself in ${used.join(", ")}.`] : []),
    ...(damaged.length > 0 ? [`Not an SPDX 2 document and left out: ${damaged.join(", ")}.`] : []),
  ];
  return { documents: good, said: sentences.length > 0 ? sentences.join(" ") : null };
}

/** Null where building refuses the extension; a list of contents can still name it. */
const readManifest = (text: string | null) =>
  text === null ? null : orNull(() => parseExtensionManifest(text));

/** "1.0.0" of "ghcr.io/siderolabs/name:1.0.0"; empty without a tag. */
const tagOf = (ref: string): string => /:([^:/@]+)$/.exec(ref)?.[1] ?? "";
