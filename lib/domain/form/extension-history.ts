/** Since when there is an extension, and what the newest release has: what the form says beside an entry. */
import type { CatalogIndex } from "../catalog/catalog-index.ts";
import { compareVersions, isPrerelease } from "../versions.ts";

export interface ExtensionHistory {
  name: string;
  tier: string;
  description: string;
  /** Oldest and newest release that has it, without "v". */
  first: string;
  last: string;
  /** What the newest stable release has; null when no stable one has it. */
  newest: { talos: string; version: string } | null;
}

const plain = (tag: string): string => tag.replace(/^v(?=\d)/, "");

/** A version without the release it was built for: "2.4.3" of "2.4.3-v1.13.9"; nothing is left of "v1.13.9". */
export const ownVersion = (version: string, talos: string): string =>
  version.replace(new RegExp(`-?v?${plain(talos).replaceAll(".", "\\.")}$`), "");

/** One entry per extension, in the order of the index. */
export function extensionHistories(index: CatalogIndex): ExtensionHistory[] {
  return index.entries.flatMap((entry) => {
    const { kind, name, tier, description, versions } = entry;
    const [last, first] = [versions[0], versions.at(-1)];
    if (kind !== "extension" || last === undefined || first === undefined) return [];
    const stable = versions.find(({ talos }) => !isPrerelease(talos));
    return [
      {
        ...{ name, tier, description, first: plain(first.talos), last: plain(last.talos) },
        newest: stable ? { talos: plain(stable.talos), version: stable.version } : null,
      },
    ];
  });
}

/** The newer version of an extension and the release that has it; null when the chosen release has as good. */
export function newerVersion(
  history: ExtensionHistory | undefined,
  version: string,
  talos: string,
): { talos: string; version: string } | null {
  const newest = history?.newest ?? null;
  if (newest === null || compareVersions(newest.talos, talos) <= 0) return null;
  const own = ownVersion(newest.version, newest.talos);
  return own === ownVersion(version, talos) || own === "" ? null : { talos: newest.talos, version: own };
}
