/** Release versions: reading them strictly or leniently, ordering them, and choosing the ones worth offering. */
import { invalidInput } from "../errors/app-error.ts";
import { quoteText } from "./quote.ts";

/** A parsed version (Semantic Versioning 2.0.0). */
export interface Version {
  major: number;
  minor: number;
  patch: number;
  /** Identifiers after "-", numeric ones as numbers; empty for a final release. */
  prerelease: (string | number)[];
  /** Text after "+", empty when there is none. */
  build: string;
}

const CORE = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/;
const IDENTIFIERS = /^[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*$/;
const LONGEST = 128;

function parsePrerelease(text: string): (string | number)[] | null {
  if (!IDENTIFIERS.test(text)) return null;
  const parts: (string | number)[] = [];
  for (const part of text.split(".")) {
    if (!/^\d+$/.test(part)) parts.push(part);
    else if ((part.length > 1 && part.startsWith("0")) || !Number.isSafeInteger(Number(part))) return null;
    else parts.push(Number(part));
  }
  return parts;
}

/** Cuts `1.2.3-rc.1+build` into its three texts; the pre-release and build texts are null when absent. */
function cut(text: string): { core: string; prerelease: string | null; build: string | null } {
  const plus = text.indexOf("+");
  const build = plus < 0 ? null : text.slice(plus + 1);
  const rest = plus < 0 ? text : text.slice(0, plus);
  const dash = rest.indexOf("-");
  return dash < 0
    ? { core: rest, prerelease: null, build }
    : { core: rest.slice(0, dash), prerelease: rest.slice(dash + 1), build };
}

/** Semantic Versioning 2.0.0 without a leading "v": three numbers, no leading zeros. Null when it does not parse. */
export function parseVersion(text: string): Version | null {
  if (text.length > LONGEST) return null;
  const { core, prerelease, build } = cut(text);
  const [, major, minor, patch] = CORE.exec(core) ?? [];
  const numbers = [Number(major), Number(minor), Number(patch)];
  if (patch === undefined || !numbers.every(Number.isSafeInteger)) return null;
  if (build !== null && !IDENTIFIERS.test(build)) return null;
  const identifiers = prerelease === null ? [] : parsePrerelease(prerelease);
  if (identifiers === null) return null;
  return {
    major: Number(major),
    minor: Number(minor),
    patch: Number(patch),
    prerelease: identifiers,
    build: build ?? "",
  };
}

/**
 * Lenient reading for tags and rules: spaces around, a leading "v", missing minor or patch and leading zeros are
 * forgiven (`v1.9`, ` 1.09.0 `). A short form with a pre-release is not. Null when it still does not parse.
 */
export function parseVersionLeniently(text: string): Version | null {
  if (text.length > LONGEST) return null;
  const plain = text.trim().replace(/^v/, "");
  const [major = "", minor, ...rest] = plain.split(".");
  const patch = rest.length === 0 ? undefined : rest.join(".");
  const last = patch ?? minor ?? major;
  if (patch === undefined && /[-+]/.test(last)) return null;
  const parts = [major, minor ?? "0", patch ?? "0"];
  return parseVersion(parts.map((part) => part.replace(/^0+(?=\d)/, "")).join("."));
}

/** `1.14.0-rc.1`: number and pre-release, without "v" and without build metadata. */
export function formatVersion(version: Version): string {
  const core = `${version.major}.${version.minor}.${version.patch}`;
  return version.prerelease.length === 0 ? core : `${core}-${version.prerelease.join(".")}`;
}

/**
 * The tag (`v1.13.0`, `v1.14.0-beta.1`) for a version as written in a URL, where the "v" is optional.
 * Throws invalid_input for anything else, build metadata included: it cannot be part of an image tag.
 */
export function versionTag(text: string): string {
  const version = parseVersion(text.startsWith("v") ? text.slice(1) : text);
  if (version === null) {
    throw invalidInput(`version ${quoteText(text.slice(0, LONGEST))} is not a version number`, {
      hint: "Write three numbers, for example v1.13.0 or v1.14.0-beta.1; GET /versions lists what is offered.",
    });
  }
  if (version.build !== "") {
    throw invalidInput(`version ${quoteText(text)} carries build metadata, which no release has`, {
      hint: `Leave out "+${version.build}".`,
    });
  }
  return `v${formatVersion(version)}`;
}

function compareIdentifiers(a: string | number, b: string | number): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "number") return -1;
  if (typeof b === "number") return 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

function comparePrerelease(a: (string | number)[], b: (string | number)[]): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length === 0 ? 0 : a.length === 0 ? 1 : -1;
  for (const [index, left] of a.entries()) {
    const right = b[index];
    if (right === undefined) return 1;
    const order = compareIdentifiers(left, right);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Order of major, minor and patch alone: 1.8.0-alpha.0 equals 1.8.0. */
export function compareCore(a: Version, b: Version): number {
  return a.major - b.major || a.minor - b.minor || a.patch - b.patch;
}

/** Precedence of Semantic Versioning 2.0.0 section 11: a pre-release sorts below its final, build metadata is ignored. */
export function comparePrecedence(a: Version, b: Version): number {
  return compareCore(a, b) || comparePrerelease(a.prerelease, b.prerelease);
}

/** Sort function for version texts with or without "v", ascending; texts that do not parse come first. */
export function compareVersions(a: string, b: string): number {
  const left = parseVersionLeniently(a);
  const right = parseVersionLeniently(b);
  if (left === null || right === null) return Number(left !== null) - Number(right !== null);
  return comparePrecedence(left, right);
}

/** True when the version is the minimum or above it, by full precedence: 1.12.0-alpha.1 is below 1.12.0-alpha.2. */
export function isAtLeast(version: string, minimum: string): boolean {
  const left = parseVersionLeniently(version);
  return left !== null && compareVersions(version, minimum) >= 0;
}

/** True for alpha, beta, rc and every other pre-release. */
export function isPrerelease(version: string): boolean {
  return (parseVersionLeniently(version)?.prerelease.length ?? 0) > 0;
}

/** `1.13` of `v1.13.2`, as used in documentation links. Throws invalid_input when the text is no version. */
export function minorLine(version: string): string {
  const [major, minor] = versionTag(version).slice(1).split(".");
  return `${major}.${minor}`;
}

export interface VersionSelection {
  /** Lowest version to offer. */
  min: string;
  /** Versions never to offer, with or without "v". */
  broken: readonly string[];
}

function isOffered(version: Version, newest: Version): boolean {
  if (version.prerelease.length === 0) return true;
  if (version.major !== newest.major || version.minor !== newest.minor) return false;
  const [stage, number] = version.prerelease;
  return (
    version.prerelease.length === 2 &&
    ["alpha", "beta", "rc"].includes(String(stage)) &&
    typeof number === "number"
  );
}

/**
 * The releases to offer among the tags of the imager image, ascending, as tags with "v" and without repeats.
 * Pre-releases stay only in the newest minor line (counted over all tags, pre-releases and broken ones included)
 * and only in the form alpha, beta or rc and a number.
 */
export function selectVersions(tags: readonly string[], selection: VersionSelection): string[] {
  const parsed = tags.map(parseVersionLeniently).filter((version) => version !== null);
  const [first, ...others] = parsed;
  if (first === undefined) return [];
  const newest = others.reduce(
    (max, version) => (comparePrecedence(version, max) > 0 ? version : max),
    first,
  );
  const min = parseVersionLeniently(selection.min);
  const broken = new Set(
    selection.broken.map((text) => {
      const version = parseVersionLeniently(text);
      return version === null ? text : formatVersion(version);
    }),
  );
  const kept = parsed
    .filter((version) => version.build === "" && isOffered(version, newest))
    .filter((version) => min === null || comparePrecedence(version, min) >= 0)
    .filter((version) => !broken.has(formatVersion(version)));
  return [...new Set(kept.sort(comparePrecedence).map((version) => `v${formatVersion(version)}`))];
}
