/** Joins the way from the name of a file to the file: recipe, plan, build. */
import type { Config } from "../config/types.ts";
import { createReleaseRepository } from "../db/release-repository.ts";
import type { SigningIdentity } from "../domain/recipe-types.ts";
import { readInstalledGrub } from "../imager/grub-modules.ts";
import type { SourceImages } from "../oci/types.ts";
import { createAssetResolving } from "../services/assets/asset-resolving.ts";
import {
  createWithdrawnReleases,
  lacksOwn,
  lacksRelease,
  resolveWithFormer,
} from "../services/assets/former-files.ts";
import type { ReleaseService, SchematicService } from "../services/contracts.ts";
import { createPlanners } from "../services/engines.ts";
import { createOverlayProfiles } from "../services/inputs/overlay-profiles.ts";
import { readLockBuilder } from "../services/locks/lock-builder.ts";
import type { OwnReleases } from "../services/own/releases.ts";
import { type BuildSide, type BuildSideOptions, createBuildSide } from "./builds.ts";

export interface FileSideOptions extends Omit<BuildSideOptions, "resolve"> {
  config: Pick<Config, "http" | "build">;
  images: SourceImages;
  schematics: SchematicService;
  /** Releases with the own entries that were in use before. */
  former: Pick<OwnReleases, "requireFormer" | "withFormer">;
  /** Null when SecureBoot is off. */
  signing: SigningIdentity | null;
}

export type FileSide = Awaited<ReturnType<typeof createFileSide>>;

/** `resolving` is what plans are made of besides releases; `builder` names what decides bytes on this machine. */
export async function createFileSide(options: FileSideOptions) {
  const { config, db, images, schematics, releases, former, signing } = options;
  const { externalUrl } = config.http;
  const installedGrub = await readInstalledGrub();
  const overlayProfiles = createOverlayProfiles(images);
  const { planAsset, planInstallerManifest } = createPlanners(config.build.engine, images);
  const resolving = { schematics, planAsset, overlayProfiles, installedGrub, signing };
  const resolveOver = (offered: Pick<ReleaseService, "require">) =>
    createAssetResolving({ ...resolving, releases: offered, externalUrl });
  const withdrawn = createWithdrawnReleases({
    releases: createReleaseRepository(db),
    hasReady: (version) => side.builds.hasReady(version),
  });
  const resolve = resolveWithFormer({
    resolve: resolveOver(releases),
    former: [
      { isGone: lacksOwn, resolve: resolveOver({ require: former.requireFormer }) },
      {
        isGone: lacksRelease,
        resolve: resolveOver({
          require: async (version) => former.withFormer(await withdrawn.require(version)),
        }),
      },
    ],
    findReady: (assetKey) => side.assets.findReady(assetKey),
    inline: (asset) => side.assets.inline(asset),
  });
  const builder = await readLockBuilder({ externalUrl, grub: installedGrub, secureBoot: signing });
  const side: BuildSide = createBuildSide({ ...options, resolve });
  return { side, resolving, planInstallerManifest, builder };
}
