/** Reads one release from the source: the digests behind its tags, its catalogs, and whether all they name is there. */
import { readFile } from "node:fs/promises";
import pLimit from "p-limit";
import { z } from "zod";
import { baseInstallerRepository, quirks } from "../../domain/quirks.ts";
import type { CatalogExtension, CatalogOverlay, PinnedImage, Release } from "../../domain/release.ts";
import type { ReleaseInputs } from "../../domain/release-record.ts";
import { AppError } from "../../errors/app-error.ts";
import type { Descriptor, SourceImages } from "../../oci/types.ts";
import {
  CATALOG_ARCH,
  EXTENSIONS_CATALOG,
  OVERLAYS_CATALOG,
  readExtensionsCatalog,
  readOverlaysCatalog,
} from "./catalogs.ts";
import { IMAGER } from "./discovery.ts";

export interface ReadContext {
  images: SourceImages;
  registry: string;
  publicName: string;
}

/** What a look at the tags gives: pinned images, or the tags that are not there. */
export type TagLook = { ok: true; inputs: ReleaseInputs } | { ok: false; missing: string[] };

const SAMPLE_MARK = "io.casthouse.sample";
const PARALLEL = 8;
const MAX_CONFIG_BYTES = 1024 * 1024;
const configSchema = z.object({
  config: z.object({ Labels: z.record(z.string(), z.string()).nullish() }).nullish(),
});

/** Asks for the digests behind the tags of a release, without checking signatures: nothing is built from the answer alone. */
export async function lookAtTags(
  { images, registry }: ReadContext,
  version: string,
  signal?: AbortSignal,
): Promise<TagLook> {
  const installer = baseInstallerRepository(version);
  const repositories = [
    IMAGER,
    EXTENSIONS_CATALOG,
    installer,
    ...(quirks(version).overlays ? [OVERLAYS_CATALOG] : []),
  ];
  const found = await Promise.all(
    repositories.map((repository) => images.findDigest(repository, version, signal)),
  );
  const [imager, extensions, installerDigest, overlays] = found;
  const missing = [IMAGER, EXTENSIONS_CATALOG].filter((_, index) => !found[index]);
  if (!imager || !extensions) return { ok: false, missing: missing.map((name) => `${name}:${version}`) };
  const baseInstaller: PinnedImage | null = installerDigest
    ? { repository: installer, digest: installerDigest }
    : null;
  return {
    ok: true,
    inputs: {
      registry,
      imager: { repository: IMAGER, digest: imager },
      baseInstaller,
      extensions,
      overlays: overlays ?? null,
    },
  };
}

/** Reads the catalogs and the sample mark behind these digests. In key mode an unsigned image is source_invalid. */
export async function readRelease(
  { images, publicName }: ReadContext,
  version: string,
  inputs: ReleaseInputs,
  signal?: AbortSignal,
): Promise<Release> {
  const [sample, extensions, overlays] = await Promise.all([
    readSampleMark(images, inputs.imager, signal),
    readExtensionsCatalog(images, inputs.extensions, publicName, signal),
    inputs.overlays === null ? [] : readOverlaysCatalog(images, inputs.overlays, signal),
  ]);
  return {
    version,
    sample,
    imager: inputs.imager,
    baseInstaller: inputs.baseInstaller,
    extensions,
    overlays,
  };
}

/** The images named by the catalogs that the source does not have, as "repository@digest". */
export async function findMissingNames(
  { images }: ReadContext,
  catalogs: { extensions: CatalogExtension[]; overlays: CatalogOverlay[] },
  signal?: AbortSignal,
): Promise<string[]> {
  const wanted = new Map<string, PinnedImage>();
  const named = [
    ...catalogs.extensions.map(({ name, digest }) => ({ repository: name, digest })),
    ...catalogs.overlays.map(({ image, digest }) => ({ repository: image, digest })),
  ];
  for (const image of named) wanted.set(`${image.repository}@${image.digest}`, image);
  const limit = pLimit(PARALLEL);
  const checked = await Promise.all(
    [...wanted].map(([name, { repository, digest }]) =>
      limit(async () => ((await images.findDigest(repository, digest, signal)) === null ? name : null)),
    ),
  );
  return checked.filter((name) => name !== null);
}

/** True when an annotation of the imager image, or a label of its configuration, says that it is the sample. */
async function readSampleMark(
  images: SourceImages,
  imager: PinnedImage,
  signal?: AbortSignal,
): Promise<boolean> {
  const { manifest, annotations } = await images.platformManifest(
    imager.repository,
    imager.digest,
    CATALOG_ARCH,
    signal,
  );
  const mark =
    annotations[SAMPLE_MARK] ?? (await readLabels(images, imager, manifest.config, signal))[SAMPLE_MARK];
  return mark === "true";
}

async function readLabels(
  images: SourceImages,
  imager: PinnedImage,
  config: Descriptor,
  signal?: AbortSignal,
): Promise<Record<string, string>> {
  const what = `the configuration of ${imager.repository}@${imager.digest}`;
  if (config.size > MAX_CONFIG_BYTES) throw new AppError("source_invalid", `${what} is too large`);
  const text = await readFile(await images.blob(imager.repository, config, signal), "utf8");
  try {
    return configSchema.parse(JSON.parse(text)).config?.Labels ?? {};
  } catch (cause) {
    throw new AppError("source_invalid", `${what} cannot be read`, { cause });
  }
}
