/** From an archive that somebody sends to an image in our registry: unpacked with care, checked, packed the same each time. */
import { createWriteStream } from "node:fs";
import path from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { newBuildId } from "../../db/build-id.ts";
import { ARCHES, type Arch } from "../../domain/asset.ts";
import type { ExtensionReport } from "../../domain/extension-report.ts";
import { OFFICIAL_NAMESPACE, type OwnPin, requireOwnName, requireRange } from "../../domain/own-sources.ts";
import { AppError, invalidInput } from "../../errors/app-error.ts";
import type { ExtensionMetadata } from "../../formats/extension-manifest.ts";
import type {
  CheckedRelease,
  ExtensionTree,
  PackedLayer,
  UnpackLimits,
} from "../../imager/extension/types.ts";
import type { UploadRequest } from "./contracts.ts";
import { keepMadeImage, type MadeImage } from "./images.ts";
import { type LookingOptions, ownRepository, refuseTooMany, releaseFor, saidBy } from "./looking.ts";
import { requireUsable } from "./pins.ts";
import { offeredRepository } from "./publishing.ts";
import type { Arrival } from "./room.ts";

/** What is done with archives and folders of extensions. */
export interface ExtensionTools {
  unpack(file: string, dir: string, limits: UnpackLimits, signal: AbortSignal): Promise<ExtensionTree>;
  architectures(tree: ExtensionTree, signal: AbortSignal): Promise<Arch[]>;
  check(
    tree: ExtensionTree,
    arch: Arch,
    release: CheckedRelease | null,
    signal: AbortSignal,
  ): Promise<ExtensionReport>;
  pack(tree: ExtensionTree, outFile: string, signal: AbortSignal): Promise<PackedLayer>;
  image(layers: { arch: Arch; layer: PackedLayer }[], metadata: ExtensionMetadata): Omit<MadeImage, "layers">;
}

export interface UploadOptions extends LookingOptions {
  tools: ExtensionTools;
}

/** Unpacked archives may be this many times as large as they are sent. */
const MOST_GROWTH = 8;
const MOST_ENTRIES = 100_000;
const TAG = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;

/**
 * Gives the pin for what was sent, offered and not saved. invalid_input with the reports when it has errors. Only the
 * work on what has arrived waits for its turn: a slow sender holds up nobody.
 */
export async function takeUpload(
  options: UploadOptions,
  sourceId: string,
  request: UploadRequest,
): Promise<OwnPin> {
  requireName(request);
  requireRange(request.talos ?? "");
  await refuseTooMany(options, 1);
  const { body, sizeBytes, signal } = request;
  const { maxBytes } = options;
  if (sizeBytes !== null && sizeBytes > maxBytes) throw tooLarge(maxBytes);
  const arrival = await options.place.room.arrive();
  arrival.require(sizeBytes ?? 0);
  try {
    return await options.inspection.inScratch(async (dir) => {
      const file = path.join(dir, "sent");
      await pipeline(sentBytes(body, maxBytes, arrival), createWriteStream(file), { signal });
      return options.turn(() => takeArchive(options, { sourceId, request, dir, file }));
    });
  } finally {
    arrival.end();
  }
}

function requireName({ namespace, name: short, override = false }: UploadRequest): string {
  const name = requireOwnName(namespace, short);
  if (namespace !== OFFICIAL_NAMESPACE || override) return name;
  throw invalidInput(`${name} is in the namespace of the official extensions`, {
    hint: "Choose a namespace of your own, or say override to replace an official extension.",
  });
}

interface Sent {
  sourceId: string;
  request: UploadRequest;
  dir: string;
  file: string;
}

async function takeArchive(options: UploadOptions, { sourceId, request, dir, file }: Sent): Promise<OwnPin> {
  const { tools, place, maxBytes, now } = options;
  const { namespace, arch, signal, override = false } = request;
  const name = requireName(request);
  const talos = requireRange(request.talos ?? "");
  // Others may have been faster.
  await refuseTooMany(options, 1);
  const repository = ownRepository("extension", namespace, name);
  const limits = { maxBytes: maxBytes * MOST_GROWTH, maxEntries: MOST_ENTRIES };
  const tree = await tools.unpack(file, path.join(dir, "tree"), limits, signal);
  const platforms = arch === undefined ? await tools.architectures(tree, signal) : [arch];
  const reports = await checkAll(options, tree, platforms, talos, signal);
  requireUsable(name, reports);
  const metadata = reports[0]?.metadata;
  if (!metadata) throw new AppError("internal", `${name} was checked without its manifest`);
  const layer = await tools.pack(tree, path.join(dir, "layer.tar.gz"), signal);
  if (layer.sizeBytes > maxBytes) throw tooLarge(maxBytes);
  const image = tools.image(
    platforms.map((one) => ({ arch: one, layer })),
    metadata,
  );
  const layers = [{ path: layer.file, digest: layer.digest, sizeBytes: layer.sizeBytes }];
  const to = { repository: offeredRepository(repository), scratch: dir };
  await keepMadeImage(place, { ...image, layers }, to);
  const tag = TAG.test(metadata.version) ? metadata.version : image.index.digest.slice(7, 19);
  return {
    ...{ id: newBuildId(now()), sourceId, subject: "extension", name, repository },
    ...{ origin: `upload of ${metadata.name} ${metadata.version}`, tag, digest: image.index.digest },
    ...{ talos, ...saidBy(reports, { author: "", description: "" }) },
    ...{ platforms: ARCHES.filter((one) => platforms.includes(one)), sizeBytes: layer.sizeBytes },
    ...{ override, report: reports, accepted: false, state: "offered" },
    ...{ createdAt: new Date(now()), adoptedAt: null },
  };
}

async function checkAll(
  { tools, releases, inspection }: UploadOptions,
  tree: ExtensionTree,
  platforms: readonly Arch[],
  talos: string,
  signal: AbortSignal,
): Promise<ExtensionReport[]> {
  const release = await releaseFor(releases, talos);
  const reports: ExtensionReport[] = [];
  for (const arch of platforms) {
    const facts = release === null ? null : await inspection.facts(release, arch, signal);
    reports.push(await tools.check(tree, arch, facts, signal));
  }
  return reports;
}

/**
 * Passes bytes on until there are too many. What still comes then is left unread and not cut off: the connection also
 * carries the refusal.
 */
async function* sentBytes(body: Readable, maxBytes: number, arrival: Arrival): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of body.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    arrival.take(chunk.length);
    yield chunk;
  }
}

const tooLarge = (maxBytes: number): AppError =>
  new AppError("too_large", `The archive is larger than ${maxBytes} bytes`, {
    hint: "The operator can raise OWN_EXTENSIONS_MAX_SIZE.",
    retryable: false,
  });
