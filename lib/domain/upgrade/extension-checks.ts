/** What becomes of each extension of a schematic in another release. */
import { findExtension } from "../extension-lookup.ts";
import { tagOfReference } from "../extension-text.ts";
import type { CatalogExtension, Release } from "../release.ts";
import type { ExtensionImage } from "../schematic-diff.ts";
import { compareVersions } from "../versions.ts";
import type { ExtensionCheck, ExtensionState } from "./upgrade-types.ts";

export interface ExtensionQuestion {
  names: readonly string[];
  from: Release | null;
  to: Release;
  /** Releases whose catalogs are known. */
  known: readonly Release[];
  /** Names to leave out when the target lacks them. */
  leaveOut: readonly string[];
}

const imageOf = (entry: CatalogExtension | null): ExtensionImage | null =>
  entry && { name: entry.name, version: tagOfReference(entry.ref), digest: entry.digest };

/** Where else a thing is: first newer release, else last older one. */
export function whereElse(
  known: readonly Release[],
  to: Release,
  has: (release: Release) => boolean,
): { state: "newer" | "gone" | "unknown"; version: string | null } {
  const having = known
    .filter(has)
    .map((release) => release.version)
    .sort(compareVersions);
  const newer = having.find((version) => compareVersions(version, to.version) > 0);
  if (newer !== undefined) return { state: "newer", version: newer };
  const older = having.findLast((version) => compareVersions(version, to.version) < 0);
  return older === undefined ? { state: "unknown", version: null } : { state: "gone", version: older };
}

function stateOf(
  { to, known }: ExtensionQuestion,
  name: string,
  after: ExtensionImage | null,
): { state: ExtensionState; version: string | null } {
  if (after !== null) return { state: after.name === name ? "present" : "renamed", version: null };
  return whereElse(known, to, (release) => findExtension(release.extensions, name) !== null);
}

/**
 * One check per written name, in order. A renamed extension whose new name is also written, or comes of another old
 * name before it, is merged into that; repeats that the schematic itself writes are kept, as the ID counts them.
 */
export function checkExtensions(question: ExtensionQuestion): ExtensionCheck[] {
  const { names, from, to, leaveOut } = question;
  const taken = new Set(names);
  return names.map((name): ExtensionCheck => {
    const before = from && imageOf(findExtension(from.extensions, name));
    const after = imageOf(findExtension(to.extensions, name));
    const found = { name, before, after, ...stateOf(question, name, after) };
    if (after === null) return { ...found, action: leaveOut.includes(name) ? "leave-out" : "keep" };
    if (after.name === name) return { ...found, action: "keep" };
    if (taken.has(after.name)) return { ...found, action: "merge" };
    taken.add(after.name);
    return { ...found, action: "rename" };
  });
}

/** The names of the migrated schematic, in the order of the old one. */
export function migratedNames(checks: readonly ExtensionCheck[]): string[] {
  return checks.flatMap(({ action, name, after }) => {
    if (action === "rename" && after !== null) return [after.name];
    return action === "keep" ? [name] : [];
  });
}
