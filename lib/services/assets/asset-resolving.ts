/** From the three texts of an asset URL to a plan; every check that needs no work, in the order clients rely on. */
import { LRUCache } from "lru-cache";
import { parseAssetPath } from "../../domain/asset-path.ts";
import { type RecipeRequest, resolveRecipe } from "../../domain/recipe.ts";
import type { Recipe, SigningIdentity } from "../../domain/recipe-types.ts";
import type { Release } from "../../domain/release.ts";
import { versionTag } from "../../domain/versions.ts";
import { AppError, notFound } from "../../errors/app-error.ts";
import type { BuildPlan } from "../../imager/types.ts";
import type { AssetRequest, ReleaseService, ResolvedAsset, SchematicService } from "../contracts.ts";
import type { OverlayProfiles } from "../inputs/overlay-profiles.ts";

const ENTRIES = 2_000;
/** Characters of plans held at most: a plan may carry a schematic's text and configuration, megabytes each. */
const CHARACTERS = 32_000_000;

export interface AssetResolvingOptions {
  schematics: Pick<SchematicService, "find">;
  releases: Pick<ReleaseService, "require">;
  planAsset: (recipe: Recipe) => BuildPlan | Promise<BuildPlan>;
  externalUrl: string;
  overlayProfiles: OverlayProfiles;
  /** Digests of the GRUB modules installed here, by platform. */
  installedGrub: Readonly<Record<string, string>>;
  /** Null when SecureBoot is off. */
  signing: SigningIdentity | null;
}

/** The one order of checks, told at AssetService.resolve. */
export function createAssetResolving(
  options: AssetResolvingOptions,
): (request: AssetRequest) => Promise<ResolvedAsset> {
  const { schematics, releases, planAsset, externalUrl, signing, installedGrub } = options;
  const resolve = withBoard(options.overlayProfiles);
  const memory = new LRUCache<string, { release: Release; resolved: ResolvedAsset }>({
    max: ENTRIES,
    maxSize: CHARACTERS,
    sizeCalculation: ({ resolved }, name) => name.length + JSON.stringify(resolved.plan).length,
  });
  return async ({ schematicId, version: written, path }) => {
    const stored = await schematics.find(schematicId);
    if (stored === null) throw notFound(`schematic ID "${schematicId}" not found`, UNKNOWN_SCHEMATIC);
    const version = versionTag(written);
    const profile = parseAssetPath(path);
    const release = await releases.require(version).catch((error: unknown) => {
      throw withKernelContext(error, version);
    });
    const name = `${schematicId}/${version}/${path}`;
    const known = memory.get(name);
    // The same release object means the same digests: the plan cannot have changed.
    if (known?.release === release) return known.resolved;
    const recipe = await resolve({
      profile,
      version,
      schematic: stored.schematic,
      schematicId,
      schematicText: stored.canonical,
      release,
      externalUrl,
      secureBootEnabled: signing !== null,
      ...(signing === null ? {} : { signing }),
    });
    const plan = await planAsset({ ...recipe, installedGrub });
    const resolved = { schematicId, version, path, profile, plan, assetKey: plan.key };
    memory.set(name, { release, resolved });
    return resolved;
  };
}

/** Everything that can be refused without the overlay's image is; only disk and ISO images depend on its profile. */
function withBoard(profiles: OverlayProfiles): (request: RecipeRequest) => Promise<Recipe> {
  return async (request) => {
    const recipe = resolveRecipe(request);
    const { kind } = request.profile;
    if (recipe.overlay === null || (kind !== "image" && kind !== "iso")) return recipe;
    const profile = await profiles.read(recipe.overlay.entry);
    return resolveRecipe({ ...request, overlayProfile: profile[kind] });
  };
}

const UNKNOWN_SCHEMATIC = { hint: "POST the schematic to /schematics first; the reply holds its ID." };

/** An unknown version is told as clients know it: the kernel is what every asset needs first. */
function withKernelContext(error: unknown, version: string): unknown {
  if (!(error instanceof AppError) || error.code !== "not_found") return error;
  const details = { ...error.extra.details, release: version };
  return new AppError(error.code, `failed to get kernel: ${error.message}`, { ...error.extra, details });
}
