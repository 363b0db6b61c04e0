/** Writes an image as an OCI layout folder (OCI image-spec, "Image Layout"), the form in which imagers read images. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { IMAGE_MEDIA, imageIndex, imageManifest } from "../../formats/image-documents.ts";
import { sha256Hex } from "../digests.ts";
import type { Product } from "../types.ts";
import { layerFile, readImageFacts } from "./base-image.ts";
import { placeReadable } from "./place-readable.ts";

/** Writes the image in the folder of an image-layers input; the index says that it is for linux/`arch`. */
export async function writeLayout(image: Product, folder: string, arch: string): Promise<void> {
  const facts = await readImageFacts(image);
  const blobs = join(folder, "blobs", "sha256");
  await mkdir(blobs, { recursive: true });
  const keep = async (mediaType: string, bytes: Uint8Array) => {
    const hex = sha256Hex(bytes);
    await writeFile(join(blobs, hex), bytes);
    return { mediaType, digest: `sha256:${hex}`, size: bytes.length };
  };
  for (const [index, { digest }] of facts.layers.entries())
    await placeReadable(layerFile(image.path, index), join(blobs, digest.replace(/^sha256:/, "")));
  const config = await keep(IMAGE_MEDIA.config, new TextEncoder().encode(JSON.stringify(facts.config)));
  const manifest = await keep(IMAGE_MEDIA.manifest, imageManifest(config, facts.layers, {}));
  const entry = { ...manifest, platform: { architecture: arch, os: "linux" } };
  await writeFile(join(folder, "index.json"), imageIndex([entry]));
  await writeFile(join(folder, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
}
