/** Bills of materials that source images bring along: read once per image, kept in the object store. */
import { randomUUID } from "node:crypto";
import { lstat, mkdir, readdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import type { Arch } from "../../domain/asset.ts";
import { digestHex } from "../../domain/digest.ts";
import { SingleFlight } from "../../oci/single-flight.ts";
import type { SourceImages } from "../../oci/types.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { readStoredJson, writeStoredJson } from "../stored-json.ts";

export interface SbomSource {
  repository: string;
  digest: string;
  arch: Arch;
}

/** Text files of an image that tell what is in it. */
export interface SourceTexts {
  /** SPDX documents by path, in byte order. */
  documents: { path: string; text: string }[];
  /** manifest.yaml of an extension; null when there is none. */
  manifest: string | null;
}

export interface SbomSources {
  read(source: SbomSource, signal?: AbortSignal): Promise<SourceTexts>;
}

export interface SbomSourcesOptions {
  images: SourceImages;
  store: ObjectStore;
  /** Folder for what is being unpacked. */
  scratchDir: string;
}

const MIB = 1024 * 1024;
/** Those of Talos are about 1 MiB. What is more is left out; the image's package data stands in for it. */
const MAX_DOCUMENT_BYTES = 8 * MIB;
const MAX_IMAGE_BYTES = 16 * MIB;
const MAX_DOCUMENTS = 50;
/** The imager's own, and those of extensions; nothing else of an image is unpacked. */
const DOCUMENT = /^(usr\/install\/(amd64|arm64)\/talos|rootfs\/usr\/local\/share\/spdx\/[^/]+)\.spdx\.json$/;
const MANIFEST = "manifest.yaml";

const textsSchema: z.ZodType<SourceTexts> = z.object({
  documents: z.array(z.object({ path: z.string(), text: z.string() })),
  manifest: z.string().nullable(),
});

/** Reads through the object store: an image has one digest, so what was read once stays true. */
export function createSbomSources({ images, store, scratchDir }: SbomSourcesOptions): SbomSources {
  const flights = new SingleFlight<SourceTexts>();

  async function unpack(source: SbomSource, signal: AbortSignal): Promise<SourceTexts> {
    const dir = path.join(scratchDir, `sbom-${randomUUID()}`);
    try {
      await mkdir(scratchDir, { recursive: true });
      const filter = (entry: string) => entry === MANIFEST || DOCUMENT.test(entry);
      await images.extract(source.repository, source.digest, source.arch, dir, { filter, signal });
      return await collect(dir, source.arch);
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  }

  return {
    read(source, signal) {
      const key = `sboms/sources/${digestHex(source.digest)}-${source.arch}.json`;
      const work = async (shared: AbortSignal): Promise<SourceTexts> => {
        const kept = textsSchema.safeParse(await readStoredJson(store, key));
        if (kept.success) return kept.data;
        const texts = await unpack(source, shared);
        await writeStoredJson(store, key, texts);
        return texts;
      };
      return flights.join(key, work, { signal });
    },
  };
}

async function collect(dir: string, arch: Arch): Promise<SourceTexts> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  // Links are left alone: they could point out of the image.
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(dir, path.join(entry.parentPath, entry.name)))
    .sort();
  const other = arch === "amd64" ? "arm64" : "amd64";
  const documents: SourceTexts["documents"] = [];
  let room = MAX_IMAGE_BYTES;
  for (const file of files) {
    if (!DOCUMENT.test(file) || file.startsWith(`usr/install/${other}/`)) continue;
    if (documents.length === MAX_DOCUMENTS) break;
    const text = await readSmall(path.join(dir, file), Math.min(room, MAX_DOCUMENT_BYTES));
    if (text === null) continue;
    documents.push({ path: file, text });
    room -= Buffer.byteLength(text);
  }
  return {
    documents,
    manifest: files.includes(MANIFEST) ? await readSmall(path.join(dir, MANIFEST), MAX_DOCUMENT_BYTES) : null,
  };
}

async function readSmall(file: string, mostBytes: number): Promise<string | null> {
  const { size } = await lstat(file);
  return size > mostBytes ? null : readFile(file, "utf8");
}
