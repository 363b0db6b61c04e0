/** Steps installer-archive and installer-manifest: base layers and our own become one image, as a file or for the registry. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { digestOf } from "../../domain/digest.ts";
import { archiveManifest, IMAGE_MEDIA, imageConfig, imageManifest } from "../../formats/image-documents.ts";
import { TAR_END_BYTES, tarHeader, tarPaddingBytes } from "../../formats/tar.ts";
import { SOURCE_DATE_EPOCH } from "../epoch.ts";
import { need, textParam, textsParam } from "../params.ts";
import type { Json, Product, StepContext, StepFunction } from "../types.ts";
import { type BaseLayer, readBaseImage } from "./base-image.ts";
import { readLayerPart } from "./layer-part.ts";
import { type Piece, writePieces } from "./write-pieces.ts";

interface Image {
  config: { bytes: Uint8Array; digest: string };
  layers: BaseLayer[];
}

/** RFC 3339 without fractions. */
const CREATED = new Date(SOURCE_DATE_EPOCH * 1000).toISOString().replace(".000Z", "Z");

/**
 * Params: arch, labels, reference (name under which docker load files the image), whole (true when all layers of the base
 * stay, however many they are). Needs: the base image, then layer folders, lowest first. The product is what docker save writes.
 */
export const installerArchiveStep: StepFunction = async (params, needs, ctx) => {
  const { config, layers } = await assemble(params, needs);
  const file = join(ctx.dir, "installer.tar");
  await writePieces(file, archive(config, layers, textParam(params, "reference")), ctx.signal);
  return { path: file, shape: "file" };
};

/**
 * Params: arch, labels, whole. Needs: as above. The product is the manifest of the platform; configuration and layers come
 * beside it as blobs.
 */
export const installerManifestStep: StepFunction = async (params, needs, ctx) => {
  const { config, layers } = await assemble(params, needs);
  const descriptor = { mediaType: IMAGE_MEDIA.config, digest: config.digest, size: config.bytes.length };
  const bytes = imageManifest(
    descriptor,
    layers.map(({ mediaType, digest, sizeBytes }) => ({ mediaType, digest, size: sizeBytes })),
    textsParam(params, "labels"),
  );
  const configFile = await write(ctx, "config.json", config.bytes);
  const path = await write(ctx, "manifest.json", bytes);
  const blobs = layers.map(({ path: file, digest }) => ({ path: file, digest }));
  return { path, shape: "file", blobs: [{ path: configFile, digest: config.digest }, ...blobs] };
};

async function assemble(params: Record<string, Json>, needs: Product[]): Promise<Image> {
  const base = await readBaseImage(need(needs, 0), params.whole === true);
  const own = await Promise.all(needs.slice(1).map(readLayerPart));
  const layers = [...base.layers, ...own.map((layer) => ({ ...layer, mediaType: IMAGE_MEDIA.layer }))];
  const bytes = imageConfig({
    architecture: textParam(params, "arch"),
    created: CREATED,
    base: base.settings,
    labels: textsParam(params, "labels"),
    diffIds: layers.map(({ diffId }) => diffId),
  });
  return { config: { bytes, digest: digestOf(bytes) }, layers };
}

function* archive(config: Image["config"], layers: BaseLayer[], reference: string): Generator<Piece> {
  const names = layers.map(({ digest }) => `${digest.slice("sha256:".length)}.tar.gz`);
  yield* member(config.digest, config.bytes, config.bytes.length);
  const written = new Set<string>();
  for (const [index, { path, sizeBytes }] of layers.entries()) {
    const name = names[index] ?? "";
    // A layer that occurs twice is named twice and stored once.
    if (!written.has(name)) yield* member(name, { file: path, length: sizeBytes }, sizeBytes);
    written.add(name);
  }
  const manifest = archiveManifest(reference, config.digest, names);
  yield* member("manifest.json", manifest, manifest.length);
  yield new Uint8Array(TAR_END_BYTES);
}

function* member(name: string, content: Piece, sizeBytes: number): Generator<Piece> {
  yield tarHeader({ name, kind: "file", mode: 0o644, sizeBytes });
  yield content;
  yield new Uint8Array(tarPaddingBytes(sizeBytes));
}

async function write(ctx: StepContext, name: string, bytes: Uint8Array): Promise<string> {
  const path = join(ctx.dir, name);
  await writeFile(path, bytes);
  return path;
}
