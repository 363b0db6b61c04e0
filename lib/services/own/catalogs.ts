/** Catalogs of own sources: images like the official ones, with one tag for each release, that list many. */
import type { OwnSourceRepository } from "../../db/own-source-repository.ts";
import { OFFICIAL_NAMESPACE, type OwnSource, requireOwnName } from "../../domain/own-sources.ts";
import { AppError, invalidInput, notFound } from "../../errors/app-error.ts";
import { parseReference } from "../../oci/reference.ts";
import type { SourceImages } from "../../oci/types.ts";
import type { ReleaseService } from "../contracts.ts";
import { CATALOG_ARCH, readExtensionsCatalog, readOverlaysCatalog } from "../releases/catalogs.ts";

/** An image at the source that is not here yet. */
export interface Candidate {
  name: string;
  repository: string;
  digest: string;
  origin: string;
  tag: string;
  /** Releases it is meant for. */
  talos: string;
  author: string;
  description: string;
}

/** A catalog is looked at for the newest release of so many minor lines, and for those it has pins for. */
const NEWEST_LINES = 3;

/** Compressed; an honest one has a few kilobytes. */
const MOST_BYTES = 16 * 2 ** 20;
/** Characters of an author or a description that are kept. */
const MOST_TEXT = 4_000;

/** What a catalog offers for the releases that are listed here. not_found when it has none of them. */
export async function catalogCandidates(
  { releases, rows }: { releases: ReleaseService; rows: Pick<OwnSourceRepository, "pins"> },
  source: OwnSource,
  catalog: { images: SourceImages; repository: string },
  signal: AbortSignal,
): Promise<Candidate[]> {
  const offered = new Set(await catalog.images.tags(catalog.repository, signal));
  const versions = (await releases.versions()).filter((version) => offered.has(version));
  const pinned = new Set((await rows.pins({ sourceId: source.id })).map((pin) => pin.talos));
  const newest = new Set(newestOfLines(versions, NEWEST_LINES));
  const wanted = versions.filter((version) => newest.has(version) || pinned.has(rangeOf(version)));
  const candidates: Candidate[] = [];
  for (const version of wanted) {
    const digest = await catalog.images.resolveTag(catalog.repository, version, signal);
    if (digest !== null) candidates.push(...(await readCatalog(source, catalog, version, digest, signal)));
  }
  if (candidates.length > 0 || pinned.size > 0) return candidates;
  throw notFound(`${source.reference} has no catalog for any release that is offered here`, {
    hint: "A catalog has one tag for each Talos version, named like it.",
  });
}

/** The newest version of each of the newest minor lines; `versions` ascending. */
function newestOfLines(versions: readonly string[], most: number): string[] {
  const lines = new Map(versions.map((version) => [version.split(".").slice(0, 2).join("."), version]));
  return [...lines.values()].slice(-most);
}

const rangeOf = (version: string): string => `=${version.replace(/^v/, "")}`;

async function readCatalog(
  source: OwnSource,
  { images, repository }: { images: SourceImages; repository: string },
  version: string,
  digest: string,
  signal: AbortSignal,
): Promise<Candidate[]> {
  const host = parseReference((source.reference ?? "").replace(/^https?:\/\//, "")).registry ?? "";
  const talos = rangeOf(version);
  await requireSmall(images, repository, digest, signal);
  if (source.subject === "overlay") {
    const overlays = await readOverlaysCatalog(images, digest, signal, repository);
    for (const { name } of overlays) requireOwnName(source.namespace, name);
    return overlays.map(({ name, image, ref, digest: pinned }) => ({
      ...{ name, repository: image, digest: pinned, origin: ref, tag: tagOf(ref), talos },
      ...{ author: "", description: "" },
    }));
  }
  const extensions = await readExtensionsCatalog(images, digest, host, signal, repository);
  for (const { name } of extensions) requireNamespace(source, name);
  return extensions.map(({ name, ref, digest: pinned, author, description }) => ({
    ...{ name, repository: name, digest: pinned, origin: ref, tag: tagOf(ref), talos },
    ...{ author: author.slice(0, MOST_TEXT), description: description.slice(0, MOST_TEXT) },
  }));
}

const tagOf = (ref: string): string => parseReference(ref).tag ?? "latest";

/** What is unpacked is bounded already; this bounds what is fetched for it. */
async function requireSmall(
  images: SourceImages,
  repository: string,
  digest: string,
  signal: AbortSignal,
): Promise<void> {
  const { manifest } = await images.platformManifest(repository, digest, CATALOG_ARCH, signal);
  const sizeBytes = manifest.layers.reduce((sum, { size }) => sum + size, 0);
  if (sizeBytes <= MOST_BYTES) return;
  throw new AppError(
    "too_large",
    `the catalog ${repository}@${digest} has ${sizeBytes} bytes, more than ${MOST_BYTES}`,
    {
      hint: "A catalog holds lists; the images that it names are fetched from where they are.",
      retryable: false,
    },
  );
}

function requireNamespace({ namespace, override }: OwnSource, name: string): void {
  const [first = "", ...rest] = name.split("/");
  requireOwnName(first, rest.join("/"));
  if (first === namespace || (override && first === OFFICIAL_NAMESPACE)) return;
  throw invalidInput(`the catalog names ${name}, which is not in the namespace ${namespace} of its source`, {
    hint: `Names in it begin with ${namespace}/.`,
  });
}
