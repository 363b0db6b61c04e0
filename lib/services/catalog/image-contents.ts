/** What is in a source image: sizes and files, read once per image and architecture, kept in the object store. */
import { randomUUID } from "node:crypto";
import { lstat, mkdir, readdir, readFile, readlink, rm } from "node:fs/promises";
import path from "node:path";
import pLimit from "p-limit";
import { z } from "zod";
import type { Arch } from "../../domain/asset.ts";
import { digestHex } from "../../domain/digest.ts";
import { orNull } from "../../errors/or-null.ts";
import { type ExtensionMetadata, parseExtensionManifest } from "../../formats/extension-manifest.ts";
import { SingleFlight } from "../../oci/single-flight.ts";
import type { SourceImages } from "../../oci/types.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { readStoredJson, writeStoredJson } from "../stored-json.ts";
import type { ImageContents, ImageFile } from "./contracts.ts";

export interface ContentsOptions {
  images: Pick<SourceImages, "extract" | "platformManifest">;
  store: ObjectStore;
  /** Folder for what is being unpacked. */
  scratchDir: string;
  /** Most entries of all layers together; DEFAULT_ENTRIES without it. */
  maxEntries?: number;
}

/** An image of the source and the architecture of interest. */
export interface ContentsQuestion {
  repository: string;
  digest: string;
  arch: Arch;
}

export interface ImageContentsReader {
  transferBytes(question: ContentsQuestion, signal?: AbortSignal): Promise<number>;
  find(question: ContentsQuestion): Promise<ImageContents | null>;
  read(question: ContentsQuestion, signal?: AbortSignal): Promise<ImageContents>;
}

/** Files that are told by name; all are counted. */
export const MOST_FILES = 2_000;
/** Unpacked for looking only: less than what a build allows. */
const MOST_BYTES = 2 * 1024 ** 3;
const DEFAULT_ENTRIES = 50_000;
const MOST_MANIFEST_BYTES = 256 * 1024;
/** Images that one process unpacks for looking at the same time. */
const PARALLEL = 2;

const text = z.string();
const manifestSchema: z.ZodType<ExtensionMetadata> = z.object({
  ...{ name: text, version: text, author: text, description: text },
  compatibility: z.object({ talos: z.object({ version: text }) }),
  extraInfo: text.exactOptional(),
});
const contentsSchema: z.ZodType<ImageContents> = z.object({
  compressedBytes: z.number(),
  unpackedBytes: z.number(),
  fileCount: z.number(),
  files: z.array(z.object({ path: text, sizeBytes: z.number(), target: text.nullable() })),
  manifest: manifestSchema.nullable(),
});

const keyOf = ({ digest, arch }: ContentsQuestion): string =>
  `catalog/contents/${digestHex(digest)}-${arch}.json`;

/** A reader over the source and the store. An image has one digest, so what was read once stays true. */
export function createImageContents(options: ContentsOptions): ImageContentsReader {
  const { images, store, scratchDir, maxEntries = DEFAULT_ENTRIES } = options;
  const flights = new SingleFlight<ImageContents>();
  const limit = pLimit(PARALLEL);

  async function find(question: ContentsQuestion): Promise<ImageContents | null> {
    const kept = contentsSchema.safeParse(await readStoredJson(store, keyOf(question)));
    return kept.success ? kept.data : null;
  }

  async function transferBytes(question: ContentsQuestion, signal?: AbortSignal): Promise<number> {
    const { repository, digest, arch } = question;
    const { manifest } = await images.platformManifest(repository, digest, arch, signal);
    return manifest.layers.reduce((total, layer) => total + layer.size, 0);
  }

  async function unpack(question: ContentsQuestion, signal: AbortSignal): Promise<ImageContents> {
    const { repository, digest, arch } = question;
    const dir = path.join(scratchDir, `contents-${randomUUID()}`);
    try {
      await mkdir(scratchDir, { recursive: true });
      const limits = { maxBytes: MOST_BYTES, maxEntries, signal };
      await images.extract(repository, digest, arch, dir, limits);
      return { compressedBytes: await transferBytes(question, signal), ...(await lookInto(dir)) };
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  }

  return {
    find,
    transferBytes,
    read(question, signal) {
      const work = async (shared: AbortSignal): Promise<ImageContents> => {
        const kept = await find(question);
        if (kept !== null) return kept;
        const contents = await limit(() => unpack(question, shared));
        await writeStoredJson(store, keyOf(question), contents);
        return contents;
      };
      return flights.join(keyOf(question), work, { signal });
    },
  };
}

async function lookInto(dir: string): Promise<Omit<ImageContents, "compressedBytes">> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const files: ImageFile[] = [];
  for (const entry of entries) {
    if (!entry.isFile() && !entry.isSymbolicLink()) continue;
    const place = path.join(entry.parentPath, entry.name);
    // Links are told, never followed: they could point out of the image.
    const target = entry.isSymbolicLink() ? await readlink(place) : null;
    const sizeBytes = target === null ? (await lstat(place)).size : 0;
    files.push({ path: path.relative(dir, place), sizeBytes, target });
  }
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  const manifest = files.find((file) => file.path === "manifest.yaml" && file.target === null);
  return {
    unpackedBytes: files.reduce((total, file) => total + file.sizeBytes, 0),
    fileCount: files.length,
    files: files.slice(0, MOST_FILES),
    manifest:
      manifest !== undefined && manifest.sizeBytes <= MOST_MANIFEST_BYTES
        ? readManifest(await readFile(path.join(dir, manifest.path), "utf8"))
        : null,
  };
}

/** Null where building refuses the extension; its files can still be shown. */
const readManifest = (source: string): ExtensionMetadata | null =>
  orNull(() => parseExtensionManifest(source));
