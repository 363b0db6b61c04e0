/** Images that lie on this machine: OCI layout folders (OCI image-spec, "Image Layout") and flat tar files. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { digestHex, digestOf } from "../lib/domain/digest.ts";
import { AppError } from "../lib/errors/app-error.ts";
import type { RunTool } from "../lib/exec/run.ts";
import { extractLayers } from "../lib/oci/layer-extract.ts";
import {
  isIndex,
  MEDIA,
  parseImage,
  parseIndex,
  pickPlatform,
  toResolvedManifest,
} from "../lib/oci/manifest.ts";
import type { Descriptor, PlatformImage, SourceImages } from "../lib/oci/types.ts";
import { fileDigest } from "../lib/services/inputs/content-digest.ts";

/** What building needs of an image, wherever it is. */
export type ImageReader = Pick<SourceImages, "extract" | "platformManifest" | "blob">;

export interface LocalImage {
  /** Of the index of the layout, or of the tar file. */
  digest: string;
  reader: ImageReader;
}

/** Opens an OCI layout folder. Rejects when it has no index.json. */
export async function openLayout(folder: string, run: RunTool): Promise<LocalImage> {
  const bytes = await readFile(path.join(folder, "index.json"));
  const blob = (descriptor: Descriptor) => checkedBlob(folder, descriptor);
  const platformManifest = (arch: string) => followLayout(folder, bytes, arch);
  return {
    digest: digestOf(bytes),
    reader: {
      platformManifest: (_repository, _digest, arch) => platformManifest(arch),
      blob: (_repository, descriptor) => blob(descriptor),
      async extract(_repository, _digest, arch, dir, options) {
        const { manifest } = await platformManifest(arch);
        const layers: string[] = [];
        for (const layer of manifest.layers) layers.push(await blob(layer));
        return extractLayers(folder, layers, dir, run, options);
      },
    },
  };
}

async function followLayout(folder: string, index: Uint8Array, arch: string): Promise<PlatformImage> {
  let bytes = index;
  let mediaType: string = MEDIA.ociIndex;
  let digest = "";
  for (let depth = 0; depth < 3; depth++) {
    const resolved = toResolvedManifest(folder, bytes, mediaType);
    if (!isIndex(folder, resolved)) {
      const manifest = parseImage(folder, resolved);
      return { digest, manifest, annotations: manifest.annotations ?? {} };
    }
    const parsed = parseIndex(folder, resolved);
    // Tools that write one image into a layout say its platform only inside.
    const [only, ...more] = parsed.manifests;
    const alone = only !== undefined && more.length === 0 && only.platform === undefined;
    const entry = alone ? only : pickPlatform(folder, parsed, arch);
    digest = entry.digest;
    mediaType = entry.mediaType;
    bytes = await readFile(await checkedBlob(folder, entry));
  }
  throw damaged(`the indexes in ${folder} lead to no image`);
}

async function checkedBlob(folder: string, { digest }: Descriptor): Promise<string> {
  const file = path.join(folder, "blobs", "sha256", digestHex(digest));
  if (`sha256:${await fileDigest(file)}` === digest) return file;
  throw damaged(`the blob ${digest} in ${folder} has other bytes than its name says`);
}

const damaged = (message: string): AppError => new AppError("source_invalid", message, { retryable: false });

/** Opens a flat tar of an image's tree. */
export async function openTarball(file: string, run: RunTool): Promise<LocalImage> {
  const refuse = async (): Promise<never> => {
    throw new AppError("not_implemented", `${file} is a plain tree; here an image with layers is needed`, {
      hint: "Give imageRef or ociPath.",
      retryable: false,
    });
  };
  return {
    digest: `sha256:${await fileDigest(file)}`,
    reader: {
      platformManifest: refuse,
      blob: refuse,
      extract: (_repository, _digest, _arch, dir, options) => extractLayers(file, [file], dir, run, options),
    },
  };
}
