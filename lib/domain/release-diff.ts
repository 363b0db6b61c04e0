/** What differs between the catalogs of two releases. */
import { extensionNames } from "./extension-lookup.ts";
import { tagOfReference } from "./extension-text.ts";
import type { Release } from "./release.ts";
import type { ExtensionImage } from "./schematic-diff.ts";

export interface CatalogChange {
  kind: "extension" | "overlay";
  /** Name in the newer catalog, in the older one when it was removed. */
  name: string;
  change: "added" | "removed" | "renamed" | "updated" | "rebuilt";
  before: ExtensionImage | null;
  after: ExtensionImage | null;
}

type Named = Map<string, ExtensionImage>;

function named(list: readonly { name: string; ref: string; digest: string }[]): Named {
  const found: Named = new Map();
  for (const { name, ref, digest } of list)
    if (!found.has(name)) found.set(name, { name, version: tagOfReference(ref), digest });
  return found;
}

function changesOf(kind: CatalogChange["kind"], before: Named, after: Named): CatalogChange[] {
  const renamed = new Map<string, ExtensionImage>();
  for (const old of before.values()) {
    if (kind === "overlay" || after.has(old.name)) continue;
    const target = extensionNames(old.name).find((name) => after.has(name) && !before.has(name));
    if (target !== undefined) renamed.set(target, old);
  }
  const taken = new Set([...renamed.values()].map((old) => old.name));
  const fresh = [...after.values()].flatMap((entry): CatalogChange[] => {
    const { name } = entry;
    const old = before.get(name);
    const former = renamed.get(name);
    if (former !== undefined) return [{ kind, name, change: "renamed", before: former, after: entry }];
    if (old === undefined) return [{ kind, name, change: "added", before: null, after: entry }];
    if (old.version !== entry.version) return [{ kind, name, change: "updated", before: old, after: entry }];
    if (old.digest !== entry.digest) return [{ kind, name, change: "rebuilt", before: old, after: entry }];
    return [];
  });
  const gone = [...before.values()].filter((old) => !after.has(old.name) && !taken.has(old.name));
  return [
    ...fresh,
    ...gone.map(
      (old): CatalogChange => ({ kind, name: old.name, change: "removed", before: old, after: null }),
    ),
  ].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** Extensions, then overlays; each by name. Empty for a release and itself. */
export const diffCatalogs = (before: Release, after: Release): CatalogChange[] => [
  ...changesOf("extension", named(before.extensions), named(after.extensions)),
  ...changesOf("overlay", named(before.overlays), named(after.overlays)),
];
