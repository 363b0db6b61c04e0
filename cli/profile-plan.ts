/** From a complete profile to its plan: pins every image it names, reads its keys. */
import { join } from "node:path";
import type { CompleteProfile } from "../lib/domain/imager-profile/complete.ts";
import { type PinnedInputs, profileRecipe } from "../lib/domain/imager-profile/recipe.ts";
import type { ContainerAsset } from "../lib/domain/imager-profile/types.ts";
import { baseInstallerRepository } from "../lib/domain/quirks.ts";
import type { CatalogExtension, CatalogOverlay } from "../lib/domain/release.ts";
import { invalidInput } from "../lib/errors/app-error.ts";
import { readInstalledGrub } from "../lib/imager/grub-modules.ts";
import { planAsset } from "../lib/imager/plan.ts";
import type { BuildPlan, PlanInput, Product } from "../lib/imager/types.ts";
import type { SecureBootKeys } from "../lib/keys/types.ts";
import { IMAGER } from "../lib/services/releases/discovery.ts";
import { digestWith, type FileOverrides, findOverrides, overrideOf } from "./file-overrides.ts";
import type { ImageShelf } from "./image-shelf.ts";
import { readProfileKeys } from "./profile-keys.ts";
import type { CommandSettings } from "./settings.ts";

/** A plan with all that running it takes. */
export interface PreparedPlan {
  plan: BuildPlan;
  keys: SecureBootKeys | null;
  /** Inputs as this machine has them; null for those that come from an image under the given digest. */
  locate(input: PlanInput): { product: Product } | { digest: string } | null;
}

const NOTHING = `sha256:${"0".repeat(64)}`;

/** Rejects with what planAsset refuses, and not_found or upstream_unavailable for images. */
export async function prepareProfile(
  profile: CompleteProfile,
  shelf: ImageShelf,
  settings: CommandSettings,
): Promise<PreparedPlan> {
  const keys = profile.secureboot ? await readProfileKeys(profile, settings) : null;
  const overrides = await findOverrides(profile, settings.workingFolder);
  const others = { ...(await pinImages(profile, shelf)), signing: keys?.identity ?? null };
  const installedGrub = await readInstalledGrub();
  const planWith = (digest: string): BuildPlan =>
    planAsset(profileRecipe(profile, { ...others, installedGrub, imager: { repository: IMAGER, digest } }));
  // A first look tells whether anything of the release's image is needed at all.
  const needed = planWith(NOTHING).inputs.filter((input) => input.digest === NOTHING);
  const complete = needed.every((input) => input.kind !== "image-file" || overrideOf(overrides, input));
  const pinned = complete ? null : (await shelf.pinRelease(IMAGER, profile.version)).digest;
  const digest = await digestWith(overrides, pinned);
  return { plan: planWith(digest), keys, locate: locator(overrides, digest, pinned) };
}

type Images = Pick<PinnedInputs, "baseInstaller" | "extensions" | "overlay" | "overlayInstaller">;

async function pinImages(profile: CompleteProfile, shelf: ImageShelf): Promise<Images> {
  const { kind, source } = profile;
  const overlay = await pinOverlay(profile, shelf);
  if (kind === "kernel" || kind === "cmdline") {
    return { baseInstaller: null, extensions: [], overlay, overlayInstaller: null };
  }
  const baseInstaller = kind === "installer" ? await pinBase(profile, shelf) : null;
  const extensions: CatalogExtension[] = [];
  for (const asset of source.input?.systemExtensions ?? []) {
    const { repository: name, digest } = await shelf.pin(asset);
    extensions.push({ name, ref: name, digest, author: "", description: "" });
  }
  return { baseInstaller, extensions, overlay, overlayInstaller: await pinOverlayInstaller(profile, shelf) };
}

/** An archive of the installer calls itself by the reference as it is written, wherever its layers come from. */
async function pinBase(
  { version, source }: CompleteProfile,
  shelf: ImageShelf,
): Promise<PinnedInputs["baseInstaller"]> {
  const base = source.input?.baseInstaller;
  if (!isNamed(base)) return shelf.pinRelease(baseInstallerRepository(version), version);
  const pinned = await shelf.pin(base);
  return base.imageRef ? { ...pinned, reference: base.imageRef } : pinned;
}

/** Only installers carry files of a board; they are those of the overlay unless another image is named. */
async function pinOverlayInstaller(
  { kind, source }: CompleteProfile,
  shelf: ImageShelf,
): Promise<PinnedInputs["overlayInstaller"]> {
  const image = source.input?.overlayInstaller;
  if (kind !== "installer" || !isNamed(image)) return null;
  if (isNamed(source.overlay?.image)) return shelf.pin(image);
  throw invalidInput("input.overlayInstaller is given without overlay.image", {
    hint: "The program of overlay.image says which kernel arguments the board needs.",
  });
}

const isNamed = (asset: ContainerAsset | undefined): asset is ContainerAsset =>
  asset !== undefined && Boolean(asset.imageRef || asset.ociPath || asset.tarballPath);

async function pinOverlay({ source }: CompleteProfile, shelf: ImageShelf): Promise<CatalogOverlay | null> {
  const image = source.overlay?.image;
  if (!isNamed(image)) return null;
  const { repository, digest } = await shelf.pin(image);
  return { name: source.overlay?.name || "default", image: repository, ref: repository, digest };
}

function locator(overrides: FileOverrides, digest: string, pinned: string | null): PreparedPlan["locate"] {
  return (input) => {
    if (input.digest !== digest) return null;
    const file = overrideOf(overrides, input);
    if (file !== null) return { product: { path: file, shape: "file" } };
    if (pinned !== null) return { digest: pinned };
    // Nothing of the release's image is used: GRUB's modules are those of this machine, as inside an imager image.
    return input.kind === "image-folder" ? { product: { path: join("/", input.path), shape: "tree" } } : null;
  };
}
