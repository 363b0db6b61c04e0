/** The engine that makes plans, as configured; where it runs another imager image than the release's, its digest is looked up. */
import type { Recipe } from "../domain/recipe-types.ts";
import type { PinnedImage } from "../domain/release.ts";
import { notFound } from "../errors/app-error.ts";
import { containerEngine } from "../imager/engines/container.ts";
import type { Engine } from "../imager/engines/engine.ts";
import { nativeEngine } from "../imager/engines/native.ts";
import type { BuildPlan } from "../imager/types.ts";
import type { SourceImages } from "../oci/types.ts";

export interface EngineSettings {
  kind: "native" | "container";
  imager?: { repository: string; tag: string | null; digest: string | null } | null;
}

/** An Engine that may have to ask the source registry first. */
export interface Planners {
  planAsset(recipe: Recipe): Promise<BuildPlan>;
  planInstallerManifest(recipe: Recipe): Promise<BuildPlan>;
}

/**
 * Plans of the configured engine. What a tag of a configured imager image means is asked once per process and tag, so
 * that plans stay the same while it runs; not_found when the source has no such image.
 */
export function createPlanners(settings: EngineSettings, images: Pick<SourceImages, "findDigest">): Planners {
  const engines = new Map<string, Promise<Engine>>();
  const engineFor = (version: string): Promise<Engine> => {
    const { kind, imager } = settings;
    if (kind === "native") return Promise.resolve(nativeEngine);
    if (!imager) return once("", () => Promise.resolve(containerEngine(null)));
    const tag = imager.tag ?? version;
    return once(imager.digest ?? tag, async () => {
      const { repository } = imager;
      return containerEngine({ repository, digest: imager.digest ?? (await digestOf(repository, tag)) });
    });
  };

  async function digestOf(repository: string, tag: string): Promise<PinnedImage["digest"]> {
    const digest = await images.findDigest(repository, tag);
    if (digest !== null) return digest;
    throw notFound(`the imager image ${repository}:${tag} does not exist in the source registry`, {
      hint: "The operator names it by BUILD_IMAGER_IMAGE; it is needed for each release, or under one tag for all.",
    });
  }

  function once(name: string, open: () => Promise<Engine>): Promise<Engine> {
    const engine =
      engines.get(name) ??
      open().catch((error: unknown) => {
        engines.delete(name);
        throw error;
      });
    engines.set(name, engine);
    return engine;
  }

  return {
    planAsset: async (recipe) => (await engineFor(recipe.version)).planAsset(recipe),
    planInstallerManifest: async (recipe) => (await engineFor(recipe.version)).planInstallerManifest(recipe),
  };
}
