/** Adds the initramfs: the release's own one with the extensions appended. */
import type { Recipe } from "../../domain/recipe-types.ts";
import type { PlanBuilder } from "./builder.ts";
import { addExtensions } from "./extensions.ts";
import { addStockInitramfs } from "./inputs.ts";

/** Adds the initramfs step and everything it needs; gives its id. */
export function addInitramfs(b: PlanBuilder, recipe: Recipe): string {
  const stock = addStockInitramfs(b, recipe);
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
