/** Adds GRUB's modules: those of the release where its imager image has them, else those installed with this factory. */
import type { Recipe } from "../../domain/recipe-types.ts";
import type { GrubPlatform } from "../grub-modules.ts";
import type { PlanBuilder } from "./builder.ts";

/** The folder of the release's own modules; gives its id for `needs`. It is empty for releases without them. */
export const addGrubModules = (b: PlanBuilder, recipe: Recipe, platform: GrubPlatform): string =>
  b.imageFolder({
    id: `grub-modules-${platform}`,
    repository: recipe.imager.repository,
    digest: recipe.imager.digest,
    arch: "amd64",
    path: `usr/lib/grub/${platform}`,
  });

/**
 * Digest of the modules installed with this factory, null when it has none. Together with the imager image it decides
 * which modules are used, so it is part of the key of every step that uses some.
 */
export const installedGrub = ({ installedGrub: known }: Recipe, platform: GrubPlatform): string | null =>
  known?.[platform] ?? null;
