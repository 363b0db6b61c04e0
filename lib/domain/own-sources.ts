/** Own extensions and overlays: where they come from, how they are named, which releases they are for. Pure. */
import { z } from "zod";
import { invalidInput } from "../errors/app-error.ts";
import { isInVersionRange } from "../formats/version-range.ts";
import type { Arch } from "./asset.ts";
import { digestSchema } from "./digest-schemas.ts";
import { quoteText } from "./quote.ts";
import type { CatalogExtension, CatalogOverlay, OwnOrigin, Release } from "./release.ts";
import { parseVersionLeniently } from "./versions.ts";

/** catalog: an image that lists many, one tag per release. image: one image. upload: what people send. */
export const OWN_KINDS = ["catalog", "image", "upload"] as const;
export const OWN_SUBJECTS = ["extension", "overlay"] as const;
export type OwnSubject = (typeof OWN_SUBJECTS)[number];

/** All repositories of images that are kept here begin with it; no other repository of the registry does. */
export const OWN_REPOSITORIES = "own/";

/** Repositories of images that nobody has adopted yet begin with it. No path below /v2 leads there. */
export const OFFERED_REPOSITORIES = "offered/";

/** The namespace of the official extensions. Own names may only lie in it as an override. */
export const OFFICIAL_NAMESPACE = "siderolabs";

const WORD = /^[a-z0-9]+(?:[._-][a-z0-9]+)*$/;
const word = z.string().max(63).regex(WORD);

/** key: signed by that key (cosign). digest: this image and no other. off: the registry is trusted. */
export const trustSchema = z.discriminatedUnion("rule", [
  z.strictObject({
    rule: z.literal("key"),
    pem: z
      .string()
      .max(8_192)
      .regex(
        /^-----BEGIN PUBLIC KEY-----\r?\n[A-Za-z0-9+/=\s]+-----END PUBLIC KEY-----\s*$/,
        "a public key in PEM is needed",
      ),
  }),
  z.strictObject({ rule: z.literal("digest"), digest: digestSchema }),
  z.strictObject({ rule: z.literal("off") }),
]);
export type OwnTrust = z.output<typeof trustSchema>;

/** A source as somebody asks for it. */
export const ownSourceInputSchema = z
  .strictObject({
    kind: z.enum(OWN_KINDS),
    subject: z.enum(OWN_SUBJECTS).prefault("extension"),
    namespace: word,
    /** Short name of the one extension or overlay; a catalog has none. */
    name: word.exactOptional(),
    /** "registry.example.com/team/daemon:v1" of an image; without tag for a catalog. Uploads have none. */
    reference: z.string().max(500).exactOptional(),
    trust: trustSchema.prefault({ rule: "off" }),
    /** Says that a name which an official extension has is meant to win over it. */
    override: z.boolean().prefault(false),
  })
  .superRefine((source, context) => {
    const wrong = (path: string, message: string) =>
      context.addIssue({ code: "custom", path: [path], message });
    if ((source.kind === "catalog") !== (source.name === undefined))
      wrong("name", source.kind === "catalog" ? "a catalog has no name of its own" : "is needed");
    if ((source.kind === "upload") !== (source.reference === undefined))
      wrong("reference", source.kind === "upload" ? "uploads have none" : "is needed");
    if (source.kind === "upload" && source.subject === "overlay")
      wrong("subject", "overlays come from registries only");
    if (source.kind === "upload" && source.trust.rule !== "off")
      wrong("trust", "uploads are trusted by who sends them");
    if (source.kind === "catalog" && source.trust.rule === "digest")
      wrong("trust", "a catalog has another digest for each release");
    if (source.namespace === OFFICIAL_NAMESPACE && !source.override)
      wrong(
        "namespace",
        `${OFFICIAL_NAMESPACE} is the official one; say "override": true to replace what is in it`,
      );
  });
export type OwnSourceInput = z.output<typeof ownSourceInputSchema>;

export interface OwnSource extends Omit<OwnSourceInput, "name" | "reference"> {
  id: string;
  name: string | null;
  reference: string | null;
  /** Comes from the file of declared sources and can only be changed there. */
  declared: boolean;
  createdAt: Date;
}

export const PIN_STATES = ["offered", "adopted", "retired"] as const;
export type PinState = (typeof PIN_STATES)[number];

/** One image of a source, by digest, for a range of releases. Its bytes lie in our own store. */
export interface OwnPin {
  id: string;
  /** Null once its source was deleted. */
  sourceId: string | null;
  subject: OwnSubject;
  /** "<namespace>/<name>" of an extension; name of the board for an overlay. */
  name: string;
  /** "own/<namespace>/<name>". */
  repository: string;
  /** Where it came from, with tag, or what the upload called itself. */
  origin: string;
  /** Tag in our own registry. */
  tag: string;
  digest: string;
  /** Releases that get it: a version range, empty for all. */
  talos: string;
  /** What its manifest says it fits, empty for all. */
  constraint: string;
  author: string;
  description: string;
  platforms: Arch[];
  sizeBytes: number;
  /** An official name is meant to be replaced. */
  override: boolean;
  /** Findings of the checks by architecture, as they were when it was brought here. */
  report: unknown;
  /** A person said yes to its warnings. */
  accepted: boolean;
  state: PinState;
  createdAt: Date;
  adoptedAt: Date | null;
}

/** A source as somebody sent it, checked. invalid_input naming the field. */
export function parseOwnSource(value: unknown): OwnSourceInput {
  const parsed = ownSourceInputSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join(".") || "source";
  throw invalidInput(`The source is wrong at ${field}: ${issue?.message}`, {
    hint: "docs/own-extensions.md shows a source of each kind.",
    details: { field },
  });
}

/** A name for the registry and the schematic; invalid_input when it is none. */
export function requireOwnName(namespace: string, name: string): string {
  if (word.safeParse(namespace).success && word.safeParse(name).success) return `${namespace}/${name}`;
  throw invalidInput(`${quoteText(`${namespace}/${name}`)} is no name of an own extension`, {
    hint: "Use lower-case letters and digits, with single dots, dashes or underscores between them: team/chaos-daemon.",
  });
}

/** True for a version range that can be read; empty stands for all releases. */
export function isRange(text: string): boolean {
  const range = text.trim();
  if (range === "") return true;
  return range.length <= 200 && isInVersionRange(range, { major: 1, minor: 0, patch: 0 }) !== null;
}

/** A version range that people typed, trimmed. invalid_input when it cannot be read. */
export function requireRange(text: string): string {
  if (isRange(text)) return text.trim();
  throw invalidInput(`${quoteText(text.slice(0, 200))} is no range of Talos versions`, {
    hint: 'Write ">=1.12.0 <1.14.0", "1.13.x", "=1.13.2", or leave it empty for all.',
  });
}

/** True when the range holds the version, pre-releases counted as the release they lead to. */
export function coversVersion(range: string, version: string): boolean {
  const parsed = parseVersionLeniently(version);
  return range === "" || (parsed !== null && isInVersionRange(range, parsed) === true);
}

/** The pins that a release gets: of those with one name the one adopted last. */
export function pinsFor(pins: readonly OwnPin[], version: string): OwnPin[] {
  const fitting = pins.filter(
    (pin) =>
      pin.state === "adopted" && coversVersion(pin.talos, version) && coversVersion(pin.constraint, version),
  );
  const newest = new Map<string, OwnPin>();
  for (const pin of fitting) {
    const key = `${pin.subject} ${pin.name}`;
    const known = newest.get(key);
    if (known === undefined || (known.adoptedAt ?? known.createdAt) < (pin.adoptedAt ?? pin.createdAt))
      newest.set(key, pin);
  }
  return [...newest.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * The release with own entries first. A name that an official entry has replaces it only as an override; otherwise the own
 * one is left out. `host` is what references shown to people begin with.
 */
export function withOwn(release: Release, pins: readonly OwnPin[], host: string): Release {
  return joinPins(release, pinsFor(pins, release.version), host);
}

/**
 * The release as withOwn gives it, and with what was in use before under names that nothing is adopted for now. For files
 * that were built then; nothing new is built from it.
 */
export function withFormerOwn(release: Release, pins: readonly OwnPin[], host: string): Release {
  const mine = pinsFor(pins, release.version);
  const taken = new Set(mine.map((pin) => `${pin.subject} ${pin.name}`));
  const retired = pins.flatMap((pin): OwnPin[] =>
    pin.state === "retired" && pin.adoptedAt !== null && !taken.has(`${pin.subject} ${pin.name}`)
      ? [{ ...pin, state: "adopted" }]
      : [],
  );
  return joinPins(release, [...mine, ...pinsFor(retired, release.version)], host);
}

function joinPins(release: Release, mine: readonly OwnPin[], host: string): Release {
  if (mine.length === 0) return release;
  const of = (subject: OwnSubject) => mine.filter((pin) => pin.subject === subject);
  return {
    ...release,
    extensions: joined(of("extension"), release.extensions, (pin) => toExtension(pin, host)),
    overlays: joined(of("overlay"), release.overlays, (pin) => toOverlay(pin, host)),
  };
}

function joined<T extends { name: string; own?: OwnOrigin }>(
  pins: OwnPin[],
  official: T[],
  toEntry: (pin: OwnPin) => T,
): T[] {
  const names = new Set(official.map((entry) => entry.name));
  const kept = pins
    .filter((pin) => !names.has(pin.name) || pin.override)
    .map((pin): T => ({ ...toEntry(pin), own: { pin: pin.id, override: names.has(pin.name) } }));
  const replaced = new Set(kept.map((entry) => entry.name));
  return [...kept, ...official.filter((entry) => !replaced.has(entry.name))];
}

function toExtension(pin: OwnPin, host: string): CatalogExtension {
  const { name, repository, tag, digest, author, description } = pin;
  return {
    name,
    repository,
    ref: `${host}/${repository}:${tag}`,
    digest,
    author,
    description,
  };
}

function toOverlay(pin: OwnPin, host: string): CatalogOverlay {
  const { name, repository, tag, digest } = pin;
  return { name, image: repository, ref: `${host}/${repository}:${tag}`, digest };
}
