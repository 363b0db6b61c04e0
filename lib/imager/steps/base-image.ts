/** The folder in which an "image-layers" input arrives: configuration and layer blobs of a source image, as they are. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { digestSchema } from "../../domain/digest-schemas.ts";
import { AppError } from "../../errors/app-error.ts";
import type { Product } from "../types.ts";

/** Written by whoever brings the input; layer number n lies beside it as `layers/<n>`. */
export const IMAGE_FACTS = "image.json";

const factsSchema = z.object({
  name: z.string(),
  config: z.record(z.string(), z.unknown()),
  layers: z.array(z.object({ mediaType: z.string(), digest: z.string(), size: z.number() })),
});
const configSchema = z.object({
  rootfs: z.object({ diff_ids: z.array(digestSchema) }),
  config: z.record(z.string(), z.unknown()).nullish(),
});

export type ImageFacts = z.infer<typeof factsSchema>;

export interface BaseLayer {
  path: string;
  mediaType: string;
  digest: string;
  sizeBytes: number;
  diffId: string;
}

export interface BaseImage {
  /** The `config` object: entry point, environment, labels. */
  settings: Record<string, unknown>;
  layers: BaseLayer[];
}

/** Path of layer number `index` below the folder. */
export const layerFile = (folder: string, index: number): string => join(folder, "layers", String(index));

/** What is known of the image in the folder of an image-layers input. */
export async function readImageFacts(product: Pick<Product, "path">): Promise<ImageFacts> {
  return factsSchema.parse(JSON.parse(await readFile(join(product.path, IMAGE_FACTS), "utf8")));
}

/**
 * Reads the folder and keeps the layers an installer is built on: an image of exactly two layers is one layer of
 * programs and one of boot files to be replaced; every other image is kept whole, and so is one that is an installer
 * already (`whole`). source_invalid when it contradicts itself.
 */
export async function readBaseImage(product: Product, whole = false): Promise<BaseImage> {
  const facts = await readImageFacts(product);
  const config = configSchema.safeParse(facts.config);
  if (!config.success || config.data.rootfs.diff_ids.length !== facts.layers.length) {
    throw new AppError("source_invalid", `the configuration of ${facts.name} does not fit its layers`, {
      retryable: false,
    });
  }
  const { rootfs, config: settings } = config.data;
  const layers = facts.layers.map(({ mediaType, digest, size }, index) => ({
    path: layerFile(product.path, index),
    mediaType: ociLayerType(mediaType),
    digest,
    sizeBytes: size,
    diffId: rootfs.diff_ids[index] ?? "",
  }));
  return { settings: settings ?? {}, layers: layers.length === 2 && !whole ? layers.slice(0, 1) : layers };
}

/** Docker's names for the same bytes. */
function ociLayerType(mediaType: string): string {
  switch (mediaType) {
    case "application/vnd.docker.image.rootfs.diff.tar.gzip":
      return "application/vnd.oci.image.layer.v1.tar+gzip";
    case "application/vnd.docker.image.rootfs.diff.tar":
      return "application/vnd.oci.image.layer.v1.tar";
    default:
      return mediaType;
  }
}
