/** Adds the installer image of one platform: layers of the base image, the boot files, and a board's overlay. */
import { wipeArgument } from "../../domain/cmdline.ts";
import { imageLabels } from "../../domain/image-labels.ts";
import { quirks } from "../../domain/quirks.ts";
import type { Recipe } from "../../domain/recipe-types.ts";
import { AppError } from "../../errors/app-error.ts";
import type { PlanBuilder } from "./builder.ts";
import { planCommandLine } from "./command-line.ts";
import { addInitramfs } from "./initramfs.ts";
import { addKernel, addSdBoot, addStockInitramfs } from "./inputs.ts";
import { overlayOptionsText } from "./overlay.ts";
import { addUki } from "./uki.ts";

/** Adds the image as one file that `docker load` takes; gives its id. */
export function addInstallerArchive(b: PlanBuilder, recipe: Recipe): string {
  return b.step({
    id: "installer",
    op: "installer-archive",
    phase: "installer",
    title: "Put the layers together into one archive",
    params: {
      arch: recipe.profile.arch,
      labels: imageLabels(recipe),
      reference: installerReference(recipe),
    },
    needs: addLayers(b, recipe),
    part: false,
  });
}

/** Adds the image as the registry holds it: a manifest, its blobs beside it; gives its id. */
export function addInstallerManifest(b: PlanBuilder, recipe: Recipe): string {
  return b.step({
    id: "installer",
    op: "installer-manifest",
    phase: "installer",
    title: "Put the layers together into one image",
    params: { arch: recipe.profile.arch, labels: imageLabels(recipe) },
    needs: addLayers(b, recipe),
    part: false,
  });
}

/** Name under which `docker load` files the image. */
export function installerReference(recipe: Recipe): string {
  const { repository, reference = `${repository}:${recipe.version}` } = requireBase(recipe);
  return reference;
}

function requireBase({ baseInstaller, version }: Recipe): NonNullable<Recipe["baseInstaller"]> {
  if (baseInstaller !== null) return baseInstaller;
  throw new AppError("internal", `the installer of ${version} has no base image`, { retryable: false });
}

function addLayers(b: PlanBuilder, recipe: Recipe): string[] {
  const { repository, digest } = requireBase(recipe);
  const base = b.imageLayers({ id: "base-installer", repository, digest, arch: recipe.profile.arch });
  const files = addBootFiles(b, recipe);
  const artifacts = b.step({
    id: "installer-layer",
    op: "installer-layer",
    phase: "installer",
    title: "Pack the boot files into a layer",
    params: {
      files: files.map(({ name }) => ({ path: `usr/install/${recipe.profile.arch}/${name}` })),
    },
    needs: [...files.map(({ id }) => id), ...addPackedPieces(b, recipe)],
    part: false,
  });
  return [base, artifacts, ...addOverlayLayer(b, recipe)];
}

/** Kernel and the release's own initramfs fill most of the layer; packed once, they serve every installer of the release. */
function addPackedPieces(b: PlanBuilder, recipe: Recipe): string[] {
  return [addKernel(b, recipe), addStockInitramfs(b, recipe)].flatMap((id) => [
    id,
    b.step({
      id: `packed-${id}`,
      op: "packed-part",
      phase: "compress",
      title: `Compress the ${id}`,
      params: { format: ".gz" },
      needs: [id],
      part: true,
    }),
  ]);
}

/** From 1.10 the installer takes kernel, initramfs and command line out of the unified kernel image. */
function addBootFiles(b: PlanBuilder, recipe: Recipe): { name: string; id: string }[] {
  const { version, profile } = recipe;
  const { unifiedInstaller, ukiProfiles } = quirks(version);
  if (!unifiedInstaller && !profile.secureboot) {
    return [
      { name: "initramfs.xz", id: addInitramfs(b, recipe) },
      { name: "vmlinuz", id: addKernel(b, recipe) },
    ];
  }
  const commandLine = planCommandLine(b, recipe);
  const profiles = ukiProfiles
    ? [
        {
          id: "reset-maintenance",
          title: "Reset to maintenance mode",
          argument: wipeArgument("installer"),
        },
      ]
    : [];
  return [
    { name: "systemd-boot.efi", id: addSdBoot(b, recipe) },
    {
      name: unifiedInstaller ? "vmlinuz.efi" : "vmlinuz.efi.signed",
      id: addUki(b, recipe, commandLine, profiles),
    },
  ];
}

function addOverlayLayer(b: PlanBuilder, { overlay, profile }: Recipe): string[] {
  if (overlay === null) return [];
  const { entry, options, installer } = overlay;
  const { repository, digest } = installer ?? { repository: entry.image, digest: entry.digest };
  const tree = b.imageTree({
    id: "overlay-image",
    repository,
    digest,
    arch: profile.arch,
  });
  const layer = b.step({
    id: "overlay-layer",
    op: "overlay-layer",
    phase: "installer",
    title: `Pack the files of the board ${entry.name} into a layer`,
    params: { name: entry.name, options: overlayOptionsText(options) },
    needs: [tree],
    part: false,
  });
  return [layer];
}
