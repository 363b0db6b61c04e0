/** Adds the installer image of one platform: layers of the base image, the boot files, and a board's overlay. */
import { composeCmdline, wipeArgument } from "../../domain/cmdline.ts";
import { imageLabels } from "../../domain/image-labels.ts";
import { quirks } from "../../domain/quirks.ts";
import type { Recipe } from "../../domain/recipe-types.ts";
import type { OptionValue } from "../../domain/schematic-types.ts";
import { emitDocument } from "../../domain/yaml/emit.ts";
import { AppError } from "../../errors/app-error.ts";
import type { PlanBuilder } from "./builder.ts";
import { addInitramfs } from "./initramfs.ts";
import { addKernel, addSdBoot, addStockInitramfs } from "./inputs.ts";
import { addUki } from "./uki.ts";

/** Adds the image as one file that `docker load` takes; gives its id. */
export function addInstallerArchive(b: PlanBuilder, recipe: Recipe): string {
  const { repository } = requireBase(recipe);
  return b.step({
    id: "installer",
    op: "installer-archive",
    phase: "installer",
    title: "Put the layers together into one archive",
    params: {
      arch: recipe.profile.arch,
      labels: imageLabels(recipe),
      reference: `${repository}:${recipe.version}`,
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
  const commandLine = composeCmdline(recipe);
  const profiles = ukiProfiles
    ? [
        {
          id: "reset-maintenance",
          title: "Reset to maintenance mode",
          commandLine: `${commandLine} ${wipeArgument("installer")}`,
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
  const { entry, options } = overlay;
  const tree = b.imageTree({
    id: "overlay-image",
    repository: entry.image,
    digest: entry.digest,
    arch: profile.arch,
  });
  const layer = b.step({
    id: "overlay-layer",
    op: "overlay-layer",
    phase: "installer",
    title: `Pack the files of the board ${entry.name} into a layer`,
    params: { name: entry.name, options: optionsText(options) },
    needs: [tree],
    part: false,
  });
  return [layer];
}

function optionsText(options: Record<string, unknown>): string {
  return Object.keys(options).length === 0 ? "{}\n" : emitDocument(optionMap(options));
}

function optionMap(record: object): Map<OptionValue, OptionValue> {
  return new Map(Object.entries(record).map(([key, value]) => [key, optionValue(value)]));
}

/** Recipes carry options as plain data; whole numbers are written without an exponent. */
function optionValue(value: unknown): OptionValue {
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : value;
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(optionValue);
  return typeof value === "object" ? optionMap(value) : String(value);
}
