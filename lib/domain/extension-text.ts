/** How catalog entries are shown and found, in pages and in the API. */
import type { CatalogExtension } from "./release.ts";

export interface ShownExtension {
  /** Catalog name, which the schematic stores. */
  name: string;
  /** Without the vendor in front. */
  title: string;
  vendor: string;
  version: string;
  /** Word in brackets in front of the description, for example "core". */
  tier: string;
  description: string;
}

/** The tag of a reference: "1.0.0" of "ghcr.io/siderolabs/gvisor:1.0.0"; empty without one. */
export const tagOfReference = (ref: string): string => /:([^:/@]+)(@.*)?$/.exec(ref)?.[1] ?? "";

/** Name, version and description of an entry, cut for reading. */
export function showExtension(extension: CatalogExtension): ShownExtension {
  const slash = extension.name.lastIndexOf("/");
  const text = extension.description.trim();
  const [, tier = "", rest = text] = /^\[([\w -]+)\]\s*([\s\S]*)$/.exec(text) ?? [];
  return {
    name: extension.name,
    title: extension.name.slice(slash + 1),
    vendor: slash < 0 ? "" : extension.name.slice(0, slash),
    version: tagOfReference(extension.ref),
    tier,
    description: rest,
  };
}

/** True when every word of the search is in the name, the version or the description. */
export function matchesSearch(extension: ShownExtension, search: string): boolean {
  const text =
    `${extension.name} ${extension.version} ${extension.tier} ${extension.description}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
