/** From a complete profile and pinned images to the recipe that a plan is made from. */
import type { AssetProfile } from "../asset.ts";
import { checkMetaEnvironment } from "../meta-env.ts";
import { checkMetaPartition } from "../meta-partition.ts";
import type { Recipe, SigningIdentity } from "../recipe-types.ts";
import type { CatalogExtension, CatalogOverlay, PinnedImage } from "../release.ts";
import type { CompleteProfile } from "./complete.ts";

/** What the images of a profile turned out to be. */
export interface PinnedInputs {
  imager: PinnedImage;
  /** Null for everything but installers. */
  baseInstaller: Recipe["baseInstaller"];
  /** In the order of the profile. */
  extensions: CatalogExtension[];
  overlay: CatalogOverlay | null;
  /** What an installer carries of the board; null where that is the overlay itself. */
  overlayInstaller: PinnedImage | null;
  /** Null without SecureBoot. */
  signing: SigningIdentity | null;
  /** Digests of the GRUB modules of this machine. */
  installedGrub: Record<string, string>;
}

/** What kind of file the profile asks for. */
export const assetProfileOf = (profile: CompleteProfile): AssetProfile => ({
  kind: profile.kind,
  platform: profile.platform,
  arch: profile.arch,
  secureboot: profile.secureboot,
  outFormat: profile.outFormat,
  ...(profile.disk === null
    ? {}
    : {
        disk: {
          format: profile.disk.format,
          sizeBytes: profile.disk.baseBytes,
          formatOptions: profile.disk.formatOptions,
        },
      }),
});

/** The recipe of a profile. It belongs to no schematic: its schematic ID is empty. invalid_input for unfit META values. */
export function profileRecipe(profile: CompleteProfile, inputs: PinnedInputs): Recipe {
  const { customization = {}, input = {}, overlay = {} } = profile.source;
  const meta = customization.metaContents ?? [];
  if (profile.kind === "image") checkMetaPartition(meta, profile.bootloader);
  else checkMetaEnvironment(meta);
  const { signing, overlayInstaller, ...pinned } = inputs;
  const { name = "" } = profile.source;
  return {
    ...pinned,
    ...(signing === null ? {} : { signing }),
    version: profile.version,
    profile: assetProfileOf(profile),
    schematicId: "",
    schematicText: "",
    externalUrl: "",
    sample: false,
    ...(name === "" || name === "Talos" ? {} : { distribution: name }),
    overlay:
      inputs.overlay === null
        ? null
        : {
            entry: inputs.overlay,
            options: overlay.options ?? {},
            ...(overlayInstaller === null ? {} : { installer: overlayInstaller }),
          },
    extraKernelArgs: customization.extraKernelArgs ?? [],
    meta,
    embeddedConfig: customization.embeddedMachineConfiguration || null,
    bootloader: profile.bootloader,
    sectorSize: profile.sectorSize,
    diskSizeBytes: profile.disk?.wholeBytes ?? null,
    enrollKeys: profile.enrollKeys,
    includeWellKnownCertificates: profile.secureboot && (input.secureboot?.includeWellKnownCerts ?? false),
  };
}
