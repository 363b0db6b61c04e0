/** Adds the initramfs: the release's own one with the extensions appended. */
import type { Recipe } from "../../domain/recipe-types.ts";
import type { PlanBuilder } from "./builder.ts";
import { addExtensions } from "./extensions.ts";
import { addStockInitramfs } from "./inputs.ts";

/** True when nothing is appended: the initramfs is the release's own, byte by byte. */
export const isStockInitramfs = ({ extensions, schematicId, embeddedConfig }: Recipe): boolean =>
  extensions.length === 0 && schematicId === "" && embeddedConfig === null;

/** Adds the initramfs and everything it needs; gives its id, of the release's own file when nothing is appended. */
export function addInitramfs(b: PlanBuilder, recipe: Recipe): string {
  const stock = addStockInitramfs(b, recipe);
  if (isStockInitramfs(recipe)) return stock;
  const { extensions, moduleIndex } = addExtensions(b, recipe, stock);
  return b.step({
    id: "initramfs",
    op: "initramfs",
    phase: "initramfs",
    title: "Append the extensions to the initramfs",
    params: { version: recipe.version },
    needs: [stock, moduleIndex, ...extensions],
    // Made anew in less time than storing it takes: docs/adr/0011-what-is-kept.md.
    part: false,
  });
}
