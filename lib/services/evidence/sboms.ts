/** Bills of materials: merged once per set of source images, and given the name of a schematic each time they are served. */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { ARCHES, type Arch } from "../../domain/asset.ts";
import { quoteText } from "../../domain/quote.ts";
import { extensionImage, type Release } from "../../domain/release.ts";
import { formatVersion, isAtLeast, parseVersion, versionTag } from "../../domain/versions.ts";
import { invalidInput } from "../../errors/app-error.ts";
import { toCycloneDx } from "../../formats/sbom/cyclonedx.ts";
import { mergeSpdx, nameSpdx, type SbomBody, type SbomPart } from "../../formats/sbom/spdx-merge.ts";
import { SOURCE_DATE_EPOCH } from "../../imager/epoch.ts";
import { SingleFlight } from "../../oci/single-flight.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { ReleaseService, SchematicService } from "../contracts.ts";
import { type ModelInputs, modelInputs, requireSchematic } from "../locks/model-inputs.ts";
import { readStoredJson, writeStoredJson } from "../stored-json.ts";
import type { SbomService } from "./contracts.ts";
import { basePart, extensionPart, overlayPart, type PartsContext } from "./sbom-parts.ts";
import type { SbomSources } from "./sbom-sources.ts";

export interface SbomServiceOptions {
  schematics: SchematicService;
  releases: ReleaseService;
  sources: SbomSources;
  store: ObjectStore;
  externalUrl: string;
  publicName: string;
}

/** Bodies in memory; each may be some megabytes. */
const ENTRIES = 8;
/** Changes when the same inputs would give another body. */
const BODY_VERSION = 1;
const CREATED = new Date(SOURCE_DATE_EPOCH * 1000).toISOString().replace(".000Z", "Z");

/** The service. What is cached holds no schematic ID: schematics with equal extensions share it. */
export function createSbomService(options: SbomServiceOptions): SbomService {
  const { schematics, releases, externalUrl } = options;
  const memory = new LRUCache<string, SbomBody>({ max: ENTRIES });
  const flights = new SingleFlight<SbomBody>();

  async function body(context: PartsContext, inputs: ModelInputs, key: string, signal?: AbortSignal) {
    const known = memory.get(key);
    if (known !== undefined) return known;
    const made = await flights.join(key, (shared) => readOrMerge(options, context, inputs, key, shared), {
      signal,
    });
    memory.set(key, made);
    return made;
  }

  return {
    async document(request, { minimum, signal } = {}) {
      const { schematicId } = request;
      const { schematic } = await requireSchematic(schematics, schematicId);
      const version = requireVersion(request.version, minimum ?? null);
      const arch = requireArch(request.arch);
      const release = await releases.require(version);
      const context = { release, arch, publicName: options.publicName };
      const inputs = modelInputs(schematic, release);
      const key = cacheKey(context, inputs);
      const namespace = `${externalUrl}/spdx/${schematicId}/${version}/${arch}/${key.slice(0, 32)}`;
      const spdx = nameSpdx(await body(context, inputs, key, signal), schematicId, namespace);
      const json = request.format === "spdx" ? spdx : toCycloneDx(spdx, uuidOf(namespace));
      return { bytes: Buffer.from(`${JSON.stringify(json)}\n`), version, arch };
    },
  };
}

async function readOrMerge(
  { store, sources }: SbomServiceOptions,
  context: PartsContext,
  inputs: ModelInputs,
  key: string,
  signal: AbortSignal,
): Promise<SbomBody> {
  const place = `sboms/merged/${key}.json`;
  const kept = await readStoredJson(store, place);
  if (isBody(kept, context)) return kept;
  const made = await merge(sources, context, inputs, signal);
  await writeStoredJson(store, place, made);
  return made;
}

async function merge(
  sources: SbomSources,
  context: PartsContext,
  { extensions, overlay }: ModelInputs,
  signal: AbortSignal,
): Promise<SbomBody> {
  const { release, arch } = context;
  const parts: SbomPart[] = [basePart(context, await sources.read({ ...release.imager, arch }, signal))];
  for (const entry of sorted(extensions)) {
    const texts = await sources.read({ ...extensionImage(entry), arch }, signal);
    parts.push(extensionPart(context, entry, texts));
  }
  if (overlay !== null) parts.push(overlayPart(context, overlay));
  const about = { version: release.version, arch, created: CREATED, comment: commentOf(release) };
  return mergeSpdx(about, parts);
}

const commentOf = ({ version, sample }: Release): string =>
  `Contents of images of ${sample ? "the sample release" : "Talos Linux"} ${version}, merged from what its source images say of themselves. The time of creation is fixed, so that equal contents give equal documents.`;

/** The order of extensions changes nothing in what an image contains. */
function sorted(extensions: ModelInputs["extensions"]): ModelInputs["extensions"] {
  const byName = new Map(extensions.map((entry) => [entry.name, entry]));
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function cacheKey({ release, arch, publicName }: PartsContext, { extensions, overlay }: ModelInputs): string {
  const identity = {
    v: BODY_VERSION,
    version: release.version,
    arch,
    publicName,
    imager: release.imager,
    sample: release.sample,
    extensions: sorted(extensions).map(({ name, ref, digest }) => [name, ref, digest]),
    overlay: overlay && [overlay.name, overlay.image, overlay.ref, overlay.digest],
  };
  return createHash("sha256").update(JSON.stringify(identity)).digest("hex");
}

/** Written by this program under a key over its version: only damage has to be noticed. */
function isBody(kept: unknown, { release, arch }: PartsContext): kept is SbomBody {
  if (typeof kept !== "object" || kept === null) return false;
  const body: Partial<Record<keyof SbomBody, unknown>> = kept;
  return body.version === release.version && body.arch === arch && Array.isArray(body.packages);
}

/** The words are those of the public service. */
function requireVersion(written: string, minimum: string | null): string {
  const parsed = parseVersion(written.replace(/^v/, ""));
  if (parsed === null) {
    throw invalidInput(
      `invalid version format: ${quoteText(`v${written.replace(/^v/, "")}`.slice(0, 128))}`,
      {
        hint: "Write three numbers, for example v1.13.0.",
      },
    );
  }
  if (minimum !== null && !isAtLeast(formatVersion(parsed), minimum)) {
    throw invalidInput(`SPDX bundles are only available for Talos versions ${minimum} and later`, {
      hint: "GET /api/v1/models/<id>/<version>/sbom/<arch> makes one from package data for every version.",
    });
  }
  return versionTag(written);
}

function requireArch(text: string): Arch {
  const arch = ARCHES.find((known) => known === text);
  if (arch !== undefined) return arch;
  throw invalidInput(`invalid architecture: ${quoteText(text.slice(0, 128))}`, {
    hint: "Use amd64 or arm64.",
  });
}

/** A name-based UUID (RFC 9562, version 8) of a text. */
function uuidOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join("-");
}
