/** The files every boot asset starts from, taken from the release's imager image. */
import type { Recipe } from "../../domain/recipe-types.ts";
import type { PlanBuilder } from "./builder.ts";
import { addSigned, signingOf } from "./secure-boot.ts";

/** One image holds the files of both architectures; the amd64 variant is the one every release has. */
const installFile = (b: PlanBuilder, recipe: Recipe, id: string, file: string): string =>
  b.imageFile({
    id,
    repository: recipe.imager.repository,
    digest: recipe.imager.digest,
    arch: "amd64",
    path: `usr/install/${recipe.profile.arch}/${file}`,
  });

/** The kernel file of the release; gives its id for `needs`. */
export const addKernel = (b: PlanBuilder, recipe: Recipe): string =>
  installFile(b, recipe, "kernel", "vmlinuz");

/** The release's own initramfs, without extensions; gives its id for `needs`. */
export const addStockInitramfs = (b: PlanBuilder, recipe: Recipe): string =>
  installFile(b, recipe, "stock-initramfs", "initramfs.xz");

/** systemd-boot of the release as it is; gives its id for `needs`. */
export const addStockSdBoot = (b: PlanBuilder, recipe: Recipe): string =>
  installFile(b, recipe, "sd-boot", "systemd-boot.efi");

/** systemd-boot of the release, signed when the recipe asks for SecureBoot; gives its id for `needs`. */
export function addSdBoot(b: PlanBuilder, recipe: Recipe): string {
  const file = addStockSdBoot(b, recipe);
  const signing = signingOf(recipe);
  return signing === null ? file : addSigned(b, file, "Sign systemd-boot", signing);
}

/** The systemd stub a UKI is made on; gives its id for `needs`. */
export const addSdStub = (b: PlanBuilder, recipe: Recipe): string =>
  installFile(b, recipe, "sd-stub", "systemd-stub.efi");
