/** Looks at what a source has now, and brings what is new here as offered pins. */
import path from "node:path";
import { newBuildId } from "../../db/build-id.ts";
import type { OwnSourceRepository } from "../../db/own-source-repository.ts";
import type { ExtensionReport } from "../../domain/extension-report.ts";
import {
  coversVersion,
  OWN_REPOSITORIES,
  type OwnPin,
  type OwnSource,
  type OwnSubject,
  requireOwnName,
} from "../../domain/own-sources.ts";
import type { Release } from "../../domain/release.ts";
import { AppError, invalidInput, notFound } from "../../errors/app-error.ts";
import type { SourceImages } from "../../oci/types.ts";
import type { ReleaseService } from "../contracts.ts";
import { type Candidate, catalogCandidates } from "./catalogs.ts";
import { blobsOf, type FoundImage, findImage, type KeepingPlace, keepImage } from "./images.ts";
import type { Inspection } from "./inspection.ts";
import { requireUsable } from "./pins.ts";
import { offeredRepository } from "./publishing.ts";
import type { OpenRemote } from "./remotes.ts";
import type { Arrival } from "./room.ts";

export interface LookingOptions {
  rows: OwnSourceRepository;
  releases: ReleaseService;
  openRemote: OpenRemote;
  inspection: Inspection;
  place: KeepingPlace;
  maxBytes: number;
  /** Pins that are not retired, at most. */
  maxCount: number;
  now: () => number;
  /** Lets few images be unpacked at once. */
  turn: Turn;
  /** How long a look may take: a registry may be as slow as it likes, and others wait. */
  lookMs: number;
}

/** Lets so much work run at once and no more. */
export type Turn = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Gives the pins to add; they are not saved. `digest` looks for that image instead of what a tag means. Failures name what
 * cannot be had, and then nothing of what was fetched is kept.
 */
export async function lookAtSource(
  options: LookingOptions,
  source: OwnSource,
  signal: AbortSignal,
  digest: string | null = null,
): Promise<OwnPin[]> {
  const ending = AbortSignal.timeout(options.lookMs);
  const either = AbortSignal.any([signal, ending]);
  try {
    return await options.inspection.inScratch((scratch) =>
      lookAndBring(options, { source, digest, scratch }, either),
    );
  } catch (error) {
    throw ending.aborted && !signal.aborted ? tooSlow(source, options.lookMs) : ownFailure(error);
  }
}

const tooSlow = ({ reference }: OwnSource, lookMs: number): AppError =>
  new AppError("timed_out", `${reference} was not fetched within ${Math.round(lookMs / 60_000)} minutes`, {
    hint: "Try again later, or bring it from a registry that is nearer.",
    retryable: true,
  });

/** Hints of the reader of registries are about the source of the releases; here other settings matter. */
const OWN_HINTS: [about: string, hint: string][] = [
  [
    "SOURCE_USERNAME",
    "A private registry needs credentials for its host in the operator's OWN_REGISTRY_AUTH_FILE; where everyone may add sources they are for declared ones alone.",
  ],
  ["SOURCE_REGISTRY", "Check the reference, or try again later."],
  ["SOURCE_VERIFY", "The source trusts only what the key it was made with has signed."],
];

function ownFailure(error: unknown): unknown {
  if (!(error instanceof AppError)) return error;
  const hint = OWN_HINTS.find(([about]) => error.extra.hint?.includes(about))?.[1];
  return hint === undefined ? error : new AppError(error.code, error.message, { ...error.extra, hint });
}

interface Looking {
  source: OwnSource;
  /** The one that is wanted; null for what the source means now. */
  digest: string | null;
  /** Removed after the look, with all that was fetched. */
  scratch: string;
}

async function lookAndBring(
  options: LookingOptions,
  looking: Looking,
  signal: AbortSignal,
): Promise<OwnPin[]> {
  const { source, scratch } = looking;
  const { images, candidates } = await findCandidates(options, looking, signal);
  const known = (await options.rows.pins({ sourceId: source.id })).filter((pin) => pin.state !== "retired");
  const fresh = candidates.filter(
    ({ name, digest, talos }) =>
      !known.some((pin) => pin.name === name && pin.digest === digest && sameRange(source, pin.talos, talos)),
  );
  await refuseTooMany(options, fresh.length);
  const arrival = await options.place.room.arrive();
  try {
    const examined: Examined[] = [];
    // All are judged before any is kept.
    for (const candidate of fresh)
      examined.push(await examine(options, { source, images, candidate, arrival }, signal));
    for (const { candidate, image, pin } of examined)
      await keepImage(
        options.place,
        image,
        { images, repository: candidate.repository },
        { repository: offeredRepository(pin.repository), scratch },
      );
    return examined.map(({ pin }) => pin);
  } finally {
    arrival.end();
  }
}

/** Of one image people choose the range; it is the same image whatever they chose. */
const sameRange = (source: OwnSource, pinned: string, offered: string) =>
  source.kind !== "catalog" || pinned === offered;

/** conflict when so many more would be above the limit over all sources. */
export async function refuseTooMany({ rows, maxCount }: LookingOptions, more: number): Promise<void> {
  if ((await rows.countPins()) + more <= maxCount) return;
  throw new AppError("conflict", `This factory keeps at most ${maxCount} own extensions and overlays`, {
    hint: "Retire some that nobody needs, or have the operator raise OWN_EXTENSIONS_MAX_COUNT.",
    retryable: false,
  });
}

async function findCandidates(options: LookingOptions, looking: Looking, signal: AbortSignal) {
  const { source, scratch } = looking;
  const text = source.reference ?? "";
  const { images, reference } = await options.openRemote(source, path.join(scratch, "fetched"));
  const { repository } = reference;
  if (source.kind === "catalog") {
    const candidates = await catalogCandidates(options, source, { images, repository }, signal);
    return { images, candidates };
  }
  const trusted = source.trust.rule === "digest" ? source.trust.digest : null;
  const tag = reference.tag ?? "latest";
  const named = looking.digest ?? reference.digest;
  const digest = named ?? trusted ?? (await images.resolveTag(repository, tag, signal));
  if (digest === null)
    throw notFound(`${text} does not exist`, {
      hint: "Check name and tag; a private registry needs credentials in the operator's OWN_REGISTRY_AUTH_FILE.",
    });
  if (trusted !== null && digest !== trusted)
    throw invalidInput(
      `${named === reference.digest ? text : digest} is not the image that the source trusts`,
      {
        hint: `It trusts ${trusted} only.`,
      },
    );
  const name = nameOf(source);
  const texts = { author: "", description: "" };
  return { images, candidates: [{ name, repository, digest, origin: text, tag, talos: "", ...texts }] };
}

function nameOf({ subject, namespace, name }: OwnSource): string {
  const short = name ?? "";
  return subject === "overlay" ? short : requireOwnName(namespace, short);
}

interface Examining {
  source: OwnSource;
  images: SourceImages;
  candidate: Candidate;
  arrival: Arrival;
}

interface Examined {
  candidate: Candidate;
  image: FoundImage;
  pin: OwnPin;
}

/** Fetches the image and looks into it. An extension with errors is not offered. */
async function examine(
  options: LookingOptions,
  { source, images, candidate, arrival }: Examining,
  signal: AbortSignal,
): Promise<Examined> {
  const { place, maxBytes, inspection, now } = options;
  const { name, digest, tag, talos, origin, repository } = candidate;
  const image = await findImage({ images, repository, digest, maxBytes, signal });
  arrival.take(await place.room.missing(blobsOf(image)));
  for (const blob of image.blobs) await images.blob(repository, blob, signal);
  const release = await releaseFor(options.releases, talos);
  const reports =
    source.subject === "extension"
      ? await options.turn(() => inspection.reports({ repository, ...image }, release, signal, images))
      : [];
  requireUsable(name, reports);
  const { author, description, constraint } = saidBy(reports, candidate);
  const pin: OwnPin = {
    ...{ id: newBuildId(now()), sourceId: source.id, subject: source.subject, name, origin },
    ...{ repository: ownRepository(source.subject, source.namespace, name) },
    ...{ tag, digest, talos, constraint, author, description, platforms: image.platforms },
    ...{ sizeBytes: image.sizeBytes, override: source.override, report: reports, accepted: false },
    ...{ state: "offered", createdAt: new Date(now()), adoptedAt: null },
  };
  return { candidate, image, pin };
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
