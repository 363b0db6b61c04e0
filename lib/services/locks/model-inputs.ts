/** What files of a schematic and version are made from: the images of the source, in the order they are applied. */
import { requireExtensions, requireOverlay } from "../../domain/extension-lookup.ts";
import type { CatalogExtension, CatalogOverlay, Release } from "../../domain/release.ts";
import type { Schematic } from "../../domain/schematic-types.ts";
import { notFound } from "../../errors/app-error.ts";
import type { SchematicService, StoredSchematic } from "../contracts.ts";

export interface ModelInputs {
  extensions: CatalogExtension[];
  overlay: CatalogOverlay | null;
}

/** Catalog entries of what the schematic names; invalid_input naming the first one that the release does not have. */
export function modelInputs(schematic: Schematic, release: Release): ModelInputs {
  const names = schematic.customization.systemExtensions?.officialExtensions ?? [];
  const board = schematic.overlay?.name ?? "";
  return {
    extensions: requireExtensions(release, names),
    overlay: board === "" ? null : requireOverlay(release, board),
  };
}

/** The schematic, or not_found in the words of the asset routes. */
export async function requireSchematic(
  schematics: Pick<SchematicService, "find">,
  schematicId: string,
): Promise<StoredSchematic> {
  const stored = await schematics.find(schematicId);
  if (stored !== null) return stored;
  throw notFound(`schematic ID "${schematicId}" not found`, {
    hint: "POST the schematic to /schematics first; the reply holds its ID.",
  });
}
