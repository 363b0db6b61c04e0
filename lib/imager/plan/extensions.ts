/** Adds one step per system extension, the two made here last, and the joint index of kernel modules. */
import type { Recipe } from "../../domain/recipe-types.ts";
import { extensionImage } from "../../domain/release.ts";
import type { PlanBuilder } from "./builder.ts";

export interface AddedExtensions {
  /** Step ids in the numbering of the initramfs: position is the directory name. */
  extensions: string[];
  /** Step id of the module index (its product is empty when no extension brings modules). */
  moduleIndex: string;
}

/** Adds the steps for all extensions of the recipe; `stock` is the id of the release's own initramfs. */
export function addExtensions(b: PlanBuilder, recipe: Recipe, stock: string): AddedExtensions {
  const { version, profile } = recipe;
  const official = recipe.extensions.map((extension, position) => {
    const name = extension.name.split("/").at(-1) ?? extension.name;
    const source = b.imageTree({
      id: `extension-image-${position}`,
      ...extensionImage(extension),
      arch: profile.arch,
    });
    return b.step({
      id: `extension-${position}`,
      op: "extension",
      phase: "extensions",
      title: `Pack the extension ${name}`,
      params: { version, name: extension.name },
      needs: [source],
      part: true,
    });
  });
  const stockModules = official.length === 0 ? [] : [addStockModules(b, version, stock)];
  const moduleIndex = b.step({
    id: "module-index",
    op: "module-index",
    phase: "extensions",
    title: "Index the kernel modules of all extensions",
    params: { version },
    needs: [...stockModules, ...official],
    part: true,
  });
  return { extensions: [...official, ...addMadeExtensions(b, recipe)], moduleIndex };
}

function addStockModules(b: PlanBuilder, version: string, stock: string): string {
  return b.step({
    id: "stock-modules",
    op: "stock-modules",
    phase: "extensions",
    title: "Unpack the release's own kernel modules",
    params: { version },
    needs: [stock],
    part: true,
  });
}

function addMadeExtensions(b: PlanBuilder, recipe: Recipe): string[] {
  return [...addSchematicExtension(b, recipe), ...addEmbeddedConfig(b, recipe)];
}

/** A recipe that belongs to no schematic has none. */
function addSchematicExtension(b: PlanBuilder, recipe: Recipe): string[] {
  const { version, schematicId, schematicText, externalUrl } = recipe;
  if (schematicId === "") return [];
  const schematic = b.step({
    id: "schematic-extension",
    op: "schematic-extension",
    phase: "extensions",
    title: "Make the extension that names the schematic",
    params: { version, schematicId, schematicText, externalUrl },
    needs: [],
    part: false,
  });
  return [schematic];
}

function addEmbeddedConfig(b: PlanBuilder, { version, embeddedConfig }: Recipe): string[] {
  if (embeddedConfig === null) return [];
  const embedded = b.step({
    id: "embedded-config",
    op: "embedded-config",
    phase: "extensions",
    title: "Make the extension that carries the machine configuration",
    params: { version, config: embeddedConfig },
    needs: [],
    part: false,
  });
  return [embedded];
}
