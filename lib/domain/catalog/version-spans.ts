/** Which of the offered releases have something, told in few words: unbroken spans, and a grid by minor line. */
import { compareVersions, minorLine } from "../versions.ts";
import type { EntryVersion } from "./catalog-index.ts";

/** From one release to another without a gap among the offered ones; both ends may be the same. */
export interface VersionSpan {
  /** The older end. */
  from: string;
  to: string;
}

/** Spans of the releases that have it, newest first. Releases of `having` that are not offered are passed over. */
export function versionSpans(offered: readonly string[], having: readonly string[]): VersionSpan[] {
  const has = new Set(having);
  const spans: VersionSpan[] = [];
  let open: VersionSpan | null = null;
  for (const version of [...offered].sort(compareVersions)) {
    if (!has.has(version)) open = null;
    else if (open === null) {
      open = { from: version, to: version };
      spans.unshift(open);
    } else open.to = version;
  }
  return spans;
}

export interface MinorRow {
  /** "1.13". */
  minor: string;
  /** Oldest first. */
  cells: { version: string; has: boolean }[];
}

/** Every offered release as a cell, one row per minor line, newest line first. */
export function minorGrid(offered: readonly string[], having: readonly string[]): MinorRow[] {
  const has = new Set(having);
  const rows = new Map<string, MinorRow>();
  for (const version of [...offered].sort(compareVersions)) {
    const minor = minorLine(version);
    const row = rows.get(minor) ?? { minor, cells: [] };
    row.cells.push({ version, has: has.has(version) });
    rows.set(minor, row);
  }
  return [...rows.values()].reverse();
}

/** One image and the releases in a row that have it. */
export interface ImageSpan extends VersionSpan {
  image: EntryVersion;
}

/** Joins neighbours that have the same image; `versions` as a catalog entry has them, newest release first. */
export function imageSpans(versions: readonly EntryVersion[]): ImageSpan[] {
  const spans: ImageSpan[] = [];
  for (const version of versions) {
    const last = spans.at(-1);
    if (last?.image.digest === version.digest && last.image.ref === version.ref) last.from = version.talos;
    else spans.push({ image: version, from: version.talos, to: version.talos });
  }
  return spans;
}
