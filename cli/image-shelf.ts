/** Every image a command uses, pinned by digest, behind one name each. */
import path from "node:path";
import type { ContainerAsset } from "../lib/domain/imager-profile/types.ts";
import type { PinnedImage } from "../lib/domain/release.ts";
import { AppError, invalidInput, notFound } from "../lib/errors/app-error.ts";
import type { RunTool } from "../lib/exec/run.ts";
import { parseReference } from "../lib/oci/reference.ts";
import { createSourceImages } from "../lib/oci/source-images.ts";
import type { SourceImages, SourceMirror } from "../lib/oci/types.ts";
import { type ImageReader, openLayout, openTarball } from "./local-images.ts";
import type { CommandSettings } from "./settings.ts";

export interface ImageShelf {
  /** Reads pinned images by the repository name that pin gave. Signatures are asked of images of the source only. */
  images: ImageReader & Pick<SourceImages, "requireVerified">;
  /** The source registry, for tags and catalogs. */
  source: SourceImages & SourceMirror;
  /** Finds the digest of an image. not_found naming the reference, invalid_input for an asset that names nothing. */
  pin(asset: ContainerAsset): Promise<PinnedImage>;
  /** The image of a release in the source registry. */
  pinRelease(repository: string, version: string): Promise<PinnedImage>;
}

/** Where an image lies that is not in the source registry, and what it is called there. */
interface Place {
  reader: ImageReader;
  repository: string;
}

/** References of the public registry are looked up in the source registry, others where they point. */
export function createImageShelf(settings: CommandSettings, run: RunTool): ImageShelf {
  const { source: config, cacheDir } = settings;
  const { registry: address, username, password, verify } = config;
  const source = createSourceImages({ registry: address, username, password, verify, cacheDir, run });
  const openElsewhere = (registry: string): SourceImages =>
    createSourceImages({
      ...{ registry, username: null, password: null, verify: { kind: "off" } },
      ...{ cacheDir, run },
    });
  const places = new Map<string, Place>();

  async function pinLocal(place: string, kind: "oci" | "tar"): Promise<PinnedImage> {
    const { digest, reader } = await (kind === "oci" ? openLayout(place, run) : openTarball(place, run));
    // Images carry these names as labels, so they say nothing of this machine's folders.
    const repository = `${kind}/${path.basename(place)}/${digest.slice(-12)}`;
    places.set(repository, { reader, repository });
    return { repository, digest };
  }

  async function pinReference(text: string, insecure: boolean): Promise<PinnedImage> {
    const { registry, repository, tag, digest: written } = parseReference(text);
    const own = registry === null || registry === config.publicName;
    const reader = own ? source : openElsewhere(`${insecure ? "http" : "https"}://${registry}`);
    const digest = written ?? (await reader.resolveTag(repository, tag ?? "latest"));
    if (digest === null) throw notFound(`the image ${text} does not exist`);
    const name = own ? repository : `${registry}/${repository}`;
    if (!own) places.set(name, { reader, repository });
    return { repository: name, digest };
  }

  return {
    images: imagesAt(places, source),
    source,
    async pin({ tarballPath, ociPath, imageRef, forceInsecure = false }) {
      if (tarballPath) return pinLocal(tarballPath, "tar");
      if (ociPath) return pinLocal(ociPath, "oci");
      if (imageRef) return pinReference(imageRef, forceInsecure);
      throw invalidInput("an image needs imageRef, ociPath or tarballPath");
    },
    async pinRelease(repository, version) {
      const digest = await source.resolveTag(repository, version);
      if (digest !== null) return { repository, digest };
      throw new AppError("not_found", `${repository}:${version} does not exist in ${config.registry}`, {
        hint: "Choose a release that the source registry has; --source names another registry.",
        retryable: false,
      });
    },
  };
}

/** Asks each image where it lies: at its place, or in the source registry. */
function imagesAt(places: ReadonlyMap<string, Place>, source: SourceImages): ImageShelf["images"] {
  const placeOf = (repository: string): Place => places.get(repository) ?? { reader: source, repository };
  return {
    requireVerified: async (repository, ...rest) =>
      places.has(repository) ? undefined : source.requireVerified(repository, ...rest),
    extract(name, ...rest) {
      const { reader, repository } = placeOf(name);
      return reader.extract(repository, ...rest);
    },
    platformManifest(name, ...rest) {
      const { reader, repository } = placeOf(name);
      return reader.platformManifest(repository, ...rest);
    },
    blob(name, ...rest) {
      const { reader, repository } = placeOf(name);
      return reader.blob(repository, ...rest);
    },
  };
}
