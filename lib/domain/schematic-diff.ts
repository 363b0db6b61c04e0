/** What differs between two choices: fields, extensions, kernel command line and text. */
import { composeCmdline } from "./cmdline.ts";
import { findExtension } from "./extension-lookup.ts";
import { tagOfReference } from "./extension-text.ts";
import { type DiffItem, diffLists } from "./list-diff.ts";
import type { MachineTarget } from "./machine-target.ts";
import type { CatalogExtension, Release } from "./release.ts";
import { canonicalWithoutSecrets, countLines, schematicFields } from "./schematic-fields.ts";
import type { Schematic } from "./schematic-types.ts";

/** One of the two things that are compared. */
export interface DiffSide {
  schematic: Schematic;
  release: Release;
}

export interface FieldChange {
  path: string;
  change: "added" | "removed" | "changed";
  /** Null when the side does not say it, or when it is secret. */
  before: string | null;
  after: string | null;
  /** Lines of a secret on each side; null where there is none or nothing is secret. */
  secretLines: { before: number | null; after: number | null } | null;
}

/** What a catalog has for a name. */
export interface ExtensionImage {
  /** Name in the catalog; another one than written when the extension was renamed. */
  name: string;
  version: string;
  digest: string;
}

export interface ExtensionChange {
  /** As the schematics write it. */
  name: string;
  /**
   * updated: another version; rebuilt: the same version under another digest; moved: only its place in the order;
   * unavailable: the release of one side lacks it.
   */
  change: "added" | "removed" | "moved" | "updated" | "rebuilt" | "unavailable" | "same";
  /** Places in the two orders, from 1; null where it is not. */
  places: { before: number | null; after: number | null };
  before: ExtensionImage | null;
  after: ExtensionImage | null;
}

export interface SchematicDiff {
  /** Only what differs. */
  fields: FieldChange[];
  /** All of both sides: those of the second in its order, then those that only the first has. */
  extensions: ExtensionChange[];
  /** Words of the command line of a disk image. */
  commandLine: DiffItem<string>[];
  /** Lines of the canonical texts, machine configurations left out. */
  text: DiffItem<string>[];
}

/** Fields that differ, in the order of the document. */
export function diffFields(before: Schematic, after: Schematic): FieldChange[] {
  const byPath = (schematic: Schematic) =>
    new Map(schematicFields(schematic).map((field) => [field.path, field]));
  const [old, fresh] = [byPath(before), byPath(after)];
  const paths = new Set(diffLists([...old.keys()], [...fresh.keys()]).map((item) => item.value));
  return [...paths].flatMap((path): FieldChange[] => {
    const [a, b] = [old.get(path), fresh.get(path)];
    if (a?.text === b?.text) return [];
    const change = a === undefined ? "added" : b === undefined ? "removed" : "changed";
    if (!(a ?? b)?.secret)
      return [{ path, change, before: a?.text ?? null, after: b?.text ?? null, secretLines: null }];
    const lines = (text: string | undefined) => (text === undefined ? null : countLines(text));
    const secretLines = { before: lines(a?.text), after: lines(b?.text) };
    return [{ path, change, before: null, after: null, secretLines }];
  });
}

const imageOf = (entry: CatalogExtension | null): ExtensionImage | null =>
  entry && { name: entry.name, version: tagOfReference(entry.ref), digest: entry.digest };

/** Names with their places from 1; repeats count once, at their first place. */
function placesOf({ schematic }: DiffSide): Map<string, number> {
  const names = new Set(schematic.customization.systemExtensions?.officialExtensions ?? []);
  return new Map([...names].map((name, index) => [name, index + 1]));
}

function changeOf(
  before: ExtensionImage | null,
  after: ExtensionImage | null,
  moved: boolean,
): ExtensionChange["change"] {
  if ((before === null) !== (after === null)) return "unavailable";
  if (before?.version !== after?.version || before?.name !== after?.name) return "updated";
  if (before?.digest !== after?.digest) return "rebuilt";
  return moved ? "moved" : "same";
}

/** Extensions of both sides. */
function diffExtensions(before: DiffSide, after: DiffSide): ExtensionChange[] {
  const [old, fresh] = [placesOf(before), placesOf(after)];
  const stays = new Set(
    diffLists(
      [...old.keys()].filter((name) => fresh.has(name)),
      [...fresh.keys()].filter((name) => old.has(name)),
    ).flatMap(({ change, value }) => (change === "same" ? [value] : [])),
  );
  const entry = ({ release }: DiffSide, name: string) => imageOf(findExtension(release.extensions, name));
  const names = new Set([...fresh.keys(), ...old.keys()]);
  return [...names].map((name): ExtensionChange => {
    const places = { before: old.get(name) ?? null, after: fresh.get(name) ?? null };
    const a = places.before === null ? null : entry(before, name);
    const b = places.after === null ? null : entry(after, name);
    const both = places.before !== null && places.after !== null;
    const change = both ? changeOf(a, b, !stays.has(name)) : places.before === null ? "added" : "removed";
    return { name, change, places, before: a, after: b };
  });
}

/** The words of a disk image's command line. Throws invalid_input for an unknown platform. */
export function commandLineWords({ schematic, release }: DiffSide, target: MachineTarget): string[] {
  const line = composeCmdline({
    version: release.version,
    profile: { kind: "image", outFormat: "raw", ...target },
    meta: [],
    extraKernelArgs: schematic.customization.extraKernelArgs ?? [],
  });
  return line.split(" ").filter((word) => word !== "");
}

/** Lines of the canonical text; `secret` stands for a machine configuration of so many lines. */
export const schematicLines = (schematic: Schematic, secret: (lines: number) => string): string[] =>
  canonicalWithoutSecrets(schematic, secret).trimEnd().split("\n");

/** The whole difference; every part of it is empty of changes when both sides are the same. */
export function diffSchematics(
  before: DiffSide,
  after: DiffSide,
  target: MachineTarget,
  secret: (lines: number) => string,
): SchematicDiff {
  return {
    fields: diffFields(before.schematic, after.schematic),
    extensions: diffExtensions(before, after),
    commandLine: diffLists(commandLineWords(before, target), commandLineWords(after, target)),
    text: diffLists(schematicLines(before.schematic, secret), schematicLines(after.schematic, secret)),
  };
}
