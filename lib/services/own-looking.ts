/** Looks at what a source has now, and brings what is new here as offered pins. */
import { newBuildId } from "../db/build-id.ts";
import type { OwnSourceRepository } from "../db/own-source-repository.ts";
import {
  coversVersion,
  OFFICIAL_NAMESPACE,
  OWN_REPOSITORIES,
  type OwnPin,
  type OwnSource,
  type OwnSubject,
  requireOwnName,
} from "../domain/own-sources.ts";
import type { Release } from "../domain/release.ts";
import { AppError, invalidInput, notFound } from "../errors/app-error.ts";
import type { ExtensionReport } from "../imager/extension/types.ts";
import { parseReference } from "../oci/reference.ts";
import type { SourceImages } from "../oci/types.ts";
import type { ReleaseService } from "./contracts.ts";
import { type ImportPlace, importImage } from "./own-images.ts";
import type { Inspection } from "./own-inspection.ts";
import { refuseErrors } from "./own-pins.ts";
import { offeredRepository } from "./own-publishing.ts";
import type { OpenRemote } from "./own-remotes.ts";
import { readExtensionsCatalog, readOverlaysCatalog } from "./release-catalogs.ts";

export interface LookingOptions {
  rows: OwnSourceRepository;
  releases: ReleaseService;
  openRemote: OpenRemote;
  inspection: Inspection;
  place: ImportPlace;
  maxBytes: number;
  /** Pins that are not retired, at most. */
  maxCount: number;
  now: () => number;
}

/** An image at the source that is not here yet. */
interface Candidate {
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

/** Gives the pins to add; they are not saved. Failures name what cannot be had. */
export async function lookAtSource(
  options: LookingOptions,
  source: OwnSource,
  signal: AbortSignal,
): Promise<OwnPin[]> {
  try {
    return await lookAndBring(options, source, signal);
  } catch (error) {
    throw ownFailure(error);
  }
}

/** Hints of the reader of registries are about the source of the releases; here other settings matter. */
const OWN_HINTS: [about: string, hint: string][] = [
  [
    "SOURCE_USERNAME",
    "A private registry needs credentials in the operator's OWN_REGISTRY_AUTH_FILE; look at those for its host.",
  ],
  ["SOURCE_REGISTRY", "Check the reference, or try again later."],
  ["SOURCE_VERIFY", "The source trusts only what the key it was made with has signed."],
];

function ownFailure(error: unknown): unknown {
  if (!(error instanceof AppError)) return error;
  const hint = OWN_HINTS.find(([about]) => error.extra.hint?.includes(about))?.[1];
  return hint === undefined ? error : new AppError(error.code, error.message, { ...error.extra, hint });
}

async function lookAndBring(
  options: LookingOptions,
  source: OwnSource,
  signal: AbortSignal,
): Promise<OwnPin[]> {
  const { images, candidates } = await findCandidates(options, source, signal);
  const known = (await options.rows.pins({ sourceId: source.id })).filter((pin) => pin.state !== "retired");
  const fresh = candidates.filter(
    ({ name, digest, talos }) =>
      !known.some((pin) => pin.name === name && pin.digest === digest && sameRange(source, pin.talos, talos)),
  );
  await refuseTooMany(options, fresh.length);
  const pins: OwnPin[] = [];
  for (const candidate of fresh) pins.push(await bring(options, { source, images, candidate }, signal));
  return pins;
}

/** Of one image people choose the range; it is the same image whatever they chose. */
const sameRange = (source: OwnSource, pinned: string, offered: string) =>
  source.kind !== "catalog" || pinned === offered;

/** conflict when so many more would be above the limit over all sources. */
export async function refuseTooMany({ rows, maxCount }: LookingOptions, more: number): Promise<void> {
  const used = (await rows.pins()).filter((pin) => pin.state !== "retired").length;
  if (used + more <= maxCount) return;
  throw new AppError("conflict", `This factory keeps at most ${maxCount} own extensions and overlays`, {
    hint: "Retire some that nobody needs, or have the operator raise OWN_EXTENSIONS_MAX_COUNT.",
    retryable: false,
  });
}

async function findCandidates(options: LookingOptions, source: OwnSource, signal: AbortSignal) {
  const text = source.reference ?? "";
  const { images, reference } = await options.openRemote(text, source.trust);
  const { repository } = reference;
  if (source.kind === "catalog") {
    const candidates = await catalogCandidates(options, source, { images, repository }, signal);
    return { images, candidates };
  }
  const wanted = source.trust.rule === "digest" ? source.trust.digest : reference.digest;
  const tag = reference.tag ?? "latest";
  const digest = wanted ?? (await images.resolveTag(repository, tag, signal));
  if (digest === null)
    throw notFound(`${text} does not exist`, {
      hint: "Check name and tag; a private registry needs credentials in the operator's OWN_REGISTRY_AUTH_FILE.",
    });
  if (source.trust.rule === "digest" && reference.digest !== null && reference.digest !== source.trust.digest)
    throw invalidInput(`${text} is not the image that the source trusts`, {
      hint: `It trusts ${source.trust.digest} only.`,
    });
  const name = nameOf(source);
  const texts = { author: "", description: "" };
  return { images, candidates: [{ name, repository, digest, origin: text, tag, talos: "", ...texts }] };
}

function nameOf({ subject, namespace, name }: OwnSource): string {
  const short = name ?? "";
  return subject === "overlay" ? short : requireOwnName(namespace, short);
}

async function catalogCandidates(
  { releases, rows }: LookingOptions,
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
    ...{ name, repository: name, digest: pinned, origin: ref, tag: tagOf(ref), talos, author, description },
  }));
}

const tagOf = (ref: string): string => parseReference(ref).tag ?? "latest";

function requireNamespace({ namespace, override }: OwnSource, name: string): void {
  const first = name.split("/", 1)[0];
  if (first === namespace || (override && first === OFFICIAL_NAMESPACE)) return;
  throw invalidInput(`the catalog names ${name}, which is not in the namespace ${namespace} of its source`, {
    hint: `Names in it begin with ${namespace}/.`,
  });
}

interface Bringing {
  source: OwnSource;
  images: SourceImages;
  candidate: Candidate;
}

/** Copies the image here and looks into it. An extension with errors is not offered. */
async function bring(options: LookingOptions, bringing: Bringing, signal: AbortSignal): Promise<OwnPin> {
  const { place, maxBytes, inspection, now } = options;
  const { source, images, candidate } = bringing;
  const { name, digest, tag, talos, origin } = candidate;
  const repository = ownRepository(source.subject, source.namespace, name);
  const target = offeredRepository(repository);
  return inspection.inScratch(async (scratch) => {
    const image = await importImage(
      { ...place, scratch },
      { images, repository: candidate.repository, digest, target, maxBytes, signal },
    );
    const release = await releaseFor(options.releases, talos);
    const reports =
      source.subject === "extension"
        ? await inspection.reports({ repository: target, ...image }, release, signal)
        : [];
    refuseErrors(name, reports);
    const { author, description, constraint } = saidBy(reports, candidate);
    return {
      ...{
        id: newBuildId(now()),
        sourceId: source.id,
        subject: source.subject,
        name,
        repository,
        origin,
      },
      ...{ tag, digest, talos, constraint, author, description, platforms: image.platforms },
      ...{ sizeBytes: image.sizeBytes, override: source.override, report: reports, accepted: false },
      ...{ state: "offered", createdAt: new Date(now()), adoptedAt: null },
    };
  });
}

/** Where the image of a name lies in our registry. */
export const ownRepository = (subject: OwnSubject, namespace: string, name: string): string =>
  subject === "extension" ? `${OWN_REPOSITORIES}${name}` : `${OWN_REPOSITORIES}${namespace}/overlays/${name}`;

/** What an extension says about itself in its manifest, else what its catalog says. */
export function saidBy(
  reports: readonly ExtensionReport[],
  otherwise: { author: string; description: string },
) {
  const metadata = reports[0]?.metadata;
  return {
    author: metadata?.author || otherwise.author,
    description: (metadata?.description || otherwise.description).trim(),
    constraint: metadata?.compatibility.talos.version ?? "",
  };
}

/** The newest release that a range covers, null when none is known: then nothing is checked against one. */
export async function releaseFor(releases: ReleaseService, talos: string): Promise<Release | null> {
  const version = (await releases.versions()).findLast((one) => coversVersion(talos, one));
  return version === undefined ? null : releases.require(version);
}
