/** Which extensions the form lists, in which order, and what it says beside each. */
import { findExtension } from "../../lib/domain/extension-lookup.ts";
import { matchesSearch, type ShownExtension, showExtension } from "../../lib/domain/extension-text.ts";
import { conflictWith } from "../../lib/domain/form/extension-conflicts.ts";
import { type ExtensionHistory, newerVersion, ownVersion } from "../../lib/domain/form/extension-history.ts";
import { purposeOf, searchWords } from "../../lib/domain/form/extension-purpose.ts";
import { type OwnMark, ownMark } from "../../lib/domain/own-mark.ts";
import type { CatalogExtension } from "../../lib/domain/release.ts";
import { compareVersions } from "../../lib/domain/versions.ts";

export interface ExtensionRow extends ShownExtension {
  /** Oldest release that has it, when the chosen one is older; newest, when it is newer. */
  lack: { since: string } | { until: string } | null;
  newer: { talos: string; version: string } | null;
  /** Not official: of an own source. */
  own: OwnMark | null;
  /** Chosen name that it does not go with. */
  conflict: string | null;
}

export interface ExtensionFilter {
  words: string;
  /** One of PURPOSES, or empty for all. */
  purpose: string;
}

/** Hidden by the form: it belongs to a management service, not to an image. */
const HIDDEN = new Set(["siderolabs/metal-agent"]);

const matches = (row: ShownExtension, { words, purpose }: ExtensionFilter): boolean =>
  (purpose === "" || purposeOf(row.name, row.description) === purpose) &&
  matchesSearch({ ...row, tier: `${row.tier} ${searchWords(row.name)}` }, words);

interface Lists {
  version: string;
  catalog: readonly CatalogExtension[];
  histories: readonly ExtensionHistory[];
  chosen: readonly string[];
  /** Names that stand first: those chosen when the list was last ordered. */
  pinned: readonly string[];
  filter: ExtensionFilter;
}

function offeredRow(entry: CatalogExtension, { version, histories, chosen }: Lists): ExtensionRow {
  const shown = showExtension(entry);
  const history = histories.find(({ name }) => name === entry.name);
  return {
    ...shown,
    version: ownVersion(shown.version, version) || shown.version,
    lack: null,
    own: ownMark(entry),
    newer: newerVersion(history, shown.version, version),
    conflict: conflictWith(entry.name, chosen),
  };
}

const bare = (name: string): CatalogExtension => ({ name, ref: "", digest: "", author: "", description: "" });

function lackingRow(name: string, { version, histories }: Lists): ExtensionRow {
  const history = histories.find((one) => one.name === name);
  const later = history !== undefined && compareVersions(history.first, version) > 0;
  return {
    ...showExtension(bare(name)),
    tier: history?.tier ?? "",
    description: history?.description ?? "",
    lack: history === undefined ? null : later ? { since: history.first } : { until: history.last },
    own: null,
    newer: null,
    conflict: null,
  };
}

/** Chosen names first (also those the release lacks), then what the filter leaves, then what other releases have. */
export function extensionRows(lists: Lists): ExtensionRow[] {
  const { catalog, histories, chosen, pinned, filter } = lists;
  const offered = catalog.filter((entry) => !HIDDEN.has(entry.name)).map((entry) => offeredRow(entry, lists));
  const missing = [...new Set(chosen)].filter((name) => findExtension(catalog, name) === null);
  const renamed = chosen.filter(
    (name) => !missing.includes(name) && !catalog.some((entry) => entry.name === name),
  );
  const elsewhere = histories
    .filter(
      ({ name }) => !HIDDEN.has(name) && !chosen.includes(name) && findExtension(catalog, name) === null,
    )
    .map(({ name }) => lackingRow(name, lists))
    .filter((row) => matches(row, filter));
  const isPinned = (row: ExtensionRow) => pinned.includes(row.name);
  const keep = (row: ExtensionRow) => chosen.includes(row.name) || matches(row, filter);
  return [
    ...[...missing, ...new Set(renamed)].map((name) => lackingRow(name, lists)),
    ...offered.filter(isPinned).filter(keep),
    ...offered.filter((row) => !isPinned(row)).filter(keep),
    ...elsewhere,
  ];
}
