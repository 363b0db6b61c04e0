/** The catalogs of many releases turned around: one entry per extension and overlay, with the releases that have it. */
import { formerNames } from "../extension-lookup.ts";
import { showExtension, tagOfReference } from "../extension-text.ts";
import { type OwnMark, ownMark } from "../own-mark.ts";
import { type CatalogExtension, type CatalogOverlay, extensionImage, type Release } from "../release.ts";
import { compareVersions } from "../versions.ts";

export type EntryKind = "extension" | "overlay";

/** What one release has under a name. */
export interface EntryVersion {
  /** Tag of the release, with "v". */
  talos: string;
  /** Tag of the image. */
  version: string;
  /** Full reference without digest: where it comes from. */
  ref: string;
  /** Repository path of the image. */
  repository: string;
  digest: string;
  /** Left out for official ones. */
  own?: OwnMark;
}

export interface CatalogEntry {
  kind: EntryKind;
  /** As a schematic stores it. */
  name: string;
  /** The name without what stands before its last slash. */
  title: string;
  /** What stands before the last slash of the name, or of the image's for overlays; empty without one. */
  namespace: string;
  author: string;
  /** Without the word in brackets in front of it. */
  description: string;
  /** Word in brackets in front of the description, for example "core". */
  tier: string;
  /** Names of the past that still lead here. */
  formerNames: string[];
  /** Newest release first; never empty. */
  versions: EntryVersion[];
}

export interface CatalogIndex {
  /** Releases that were looked at, newest first, as tags. */
  releases: string[];
  /** In byte order of their names, extensions first. */
  entries: CatalogEntry[];
}

const byName = (a: CatalogEntry, b: CatalogEntry): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

/** What stands before the last slash. */
const namespaceOf = (name: string): string => name.slice(0, Math.max(0, name.lastIndexOf("/")));

function extensionEntry(extension: CatalogExtension): CatalogEntry {
  const { title, tier, description } = showExtension(extension);
  const { name, author } = extension;
  return {
    ...{ kind: "extension", name, title, namespace: namespaceOf(name), author, tier },
    ...{ description: description.trim(), formerNames: formerNames(name), versions: [] },
  };
}

const overlayEntry = ({ name, image }: CatalogOverlay): CatalogEntry => ({
  ...{ kind: "overlay", name, title: name, namespace: namespaceOf(image), author: "", tier: "" },
  ...{ description: "", formerNames: [], versions: [] },
});

function markOf(entry: CatalogExtension | CatalogOverlay): { own?: OwnMark } {
  const own = ownMark(entry);
  return own === null ? {} : { own };
}

/** The index over these releases. Texts are those of the newest release that has the name. */
export function buildCatalog(releases: readonly Release[]): CatalogIndex {
  const newestFirst = [...releases].sort((a, b) => compareVersions(b.version, a.version));
  const extensions = new Map<string, CatalogEntry>();
  const overlays = new Map<string, CatalogEntry>();
  const entryOf = (known: Map<string, CatalogEntry>, name: string, create: () => CatalogEntry) => {
    const entry = known.get(name) ?? create();
    known.set(name, entry);
    return entry;
  };
  for (const release of newestFirst) {
    const talos = release.version;
    for (const extension of release.extensions) {
      const { name, ref, digest } = extension;
      const entry = entryOf(extensions, name, () => extensionEntry(extension));
      // A name that a catalog has twice counts once, the first: so it is when an image is made.
      if (entry.versions.at(-1)?.talos === talos) continue;
      const { repository } = extensionImage(extension);
      entry.versions.push({
        talos,
        version: tagOfReference(ref),
        ref,
        repository,
        digest,
        ...markOf(extension),
      });
    }
    for (const overlay of release.overlays) {
      const { name, image, ref, digest } = overlay;
      const entry = entryOf(overlays, name, () => overlayEntry(overlay));
      if (entry.versions.at(-1)?.talos === talos) continue;
      entry.versions.push({
        talos,
        version: tagOfReference(ref),
        ref,
        repository: image,
        digest,
        ...markOf(overlay),
      });
    }
  }
  return {
    releases: newestFirst.map((release) => release.version),
    entries: [[...extensions.values()].sort(byName), [...overlays.values()].sort(byName)].flat(),
  };
}

/** The entry with this kind and name, or null. */
export const findEntry = (index: CatalogIndex, kind: EntryKind, name: string): CatalogEntry | null =>
  index.entries.find((entry) => entry.kind === kind && entry.name === name) ?? null;
