/** The one text of a schematic: same choice, same bytes. docs/schematics.md describes the layout. */
import type { OptionValue, Schematic } from "./schematic-types.ts";
import { emitDocument } from "./yaml/emit.ts";
import { sortEntries } from "./yaml/key-order.ts";

type Entries = Map<OptionValue, OptionValue>;

/** A copy with the keys of every map in canonical order. */
function sorted(value: OptionValue): OptionValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (!(value instanceof Map)) return value;
  return sortedMap(value);
}

function sortedMap(map: Entries): Entries {
  return new Map(sortEntries(map).map(([key, value]) => [key, sorted(value)]));
}

/** Options of an overlay in canonical order. */
export const canonicalOptions = (options: ReadonlyMap<string, OptionValue>): Entries =>
  sortedMap(new Map<OptionValue, OptionValue>(options));

function overlayEntries(overlay: Schematic["overlay"]): Entries | null {
  if (overlay === undefined) return null;
  const options = overlay.options ?? new Map<string, OptionValue>();
  if (overlay.image === "" && overlay.name === "" && options.size === 0) return null;
  const entries: Entries = new Map([
    ["image", overlay.image],
    ["name", overlay.name],
  ]);
  if (options.size > 0) entries.set("options", canonicalOptions(options));
  return entries;
}

function customizationEntries(customization: Schematic["customization"]): Entries {
  const entries: Entries = new Map();
  const { embeddedMachineConfiguration, extraKernelArgs, meta, systemExtensions } = customization;
  const { bootloader, secureboot, diskImage } = customization;
  if (embeddedMachineConfiguration) entries.set("embeddedMachineConfiguration", embeddedMachineConfiguration);
  if (extraKernelArgs?.length) entries.set("extraKernelArgs", extraKernelArgs);
  if (meta?.length) {
    const items = meta.map(
      ({ key, value }): Entries =>
        new Map<OptionValue, OptionValue>([
          ["key", BigInt(key)],
          ["value", value],
        ]),
    );
    entries.set("meta", items);
  }
  if (systemExtensions?.officialExtensions.length) {
    entries.set("systemExtensions", new Map([["officialExtensions", systemExtensions.officialExtensions]]));
  }
  if (bootloader) entries.set("bootloader", bootloader);
  const boot: Entries = new Map();
  if (secureboot?.enrollKeys) boot.set("enrollKeys", secureboot.enrollKeys);
  if (secureboot?.includeWellKnownCertificates) boot.set("includeWellKnownCertificates", true);
  if (boot.size > 0) entries.set("secureboot", boot);
  if (diskImage?.sectorSize) entries.set("diskImage", new Map([["sectorSize", diskImage.sectorSize]]));
  return entries;
}

/**
 * Canonical YAML of a schematic, closed by one line break; its UTF-8 bytes are what the ID hashes.
 * Pure, runs in the browser. Errors: too_large beyond 8 MiB.
 */
export function canonicalSchematic(schematic: Schematic): string {
  const root: Entries = new Map();
  if (schematic.owner) root.set("owner", schematic.owner);
  const overlay = overlayEntries(schematic.overlay);
  if (overlay !== null) root.set("overlay", overlay);
  root.set("customization", customizationEntries(schematic.customization));
  return emitDocument(root);
}
