/** Adds the unified kernel image: stub, kernel, initramfs and command line in one EFI program. */
import type { Recipe } from "../../domain/recipe-types.ts";
import type { PlanBuilder } from "./builder.ts";
import { addInitramfs } from "./initramfs.ts";
import { addKernel, addSdStub } from "./inputs.ts";

/** A further boot entry inside the UKI (from 1.10): the base command line with something appended. */
export interface UkiProfile {
  id: string;
  title: string;
  /** Whole command line of this entry. */
  commandLine: string;
}

/**
 * Adds the UKI step and what it needs; gives its id. `commandLine` is the base line; `profiles` are the entries
 * after "main" and must be empty where the version has no UKI profiles.
 */
export function addUki(b: PlanBuilder, recipe: Recipe, commandLine: string, profiles: UkiProfile[]): string {
  return b.step({
    id: "uki",
    op: "uki",
    phase: "uki",
    title: "Put stub, kernel, initramfs and command line into one EFI program",
    params: {
      version: recipe.version,
      commandLine,
      profiles: profiles.map(({ id, title, commandLine: line }) => ({ id, title, commandLine: line })),
    },
    needs: [addSdStub(b, recipe), addKernel(b, recipe), addInitramfs(b, recipe)],
    part: true,
  });
}
