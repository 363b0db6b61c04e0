/** What makes plans: the native engine, or one whose main step is an imager that runs in a container. */
import type { Recipe } from "../../domain/recipe-types.ts";
import type { BuildPlan } from "../types.ts";

export interface Engine {
  /** The plan of a file. Equal recipes give equal plans; plans of two engines never have equal keys where bytes may differ. */
  planAsset(recipe: Recipe): BuildPlan;
  /** The plan of an installer as the registry holds it. */
  planInstallerManifest(recipe: Recipe): BuildPlan;
}
