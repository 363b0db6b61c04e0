/** Adds the ISO: which variant a release and a choice of boot loader give, and what it is made of. */
import type { Arch } from "../../domain/asset.ts";
import { wipeArgument } from "../../domain/cmdline.ts";
import { quirks } from "../../domain/quirks.ts";
import type { Recipe } from "../../domain/recipe-types.ts";
import { invalidInput } from "../../errors/app-error.ts";
import type { IsoVariant } from "../../formats/iso-arguments.ts";
import type { GrubPlatform } from "../grub-modules.ts";
import type { PlanBuilder } from "./builder.ts";
import { planCommandLine } from "./command-line.ts";
import { addGrubModules, installedGrub } from "./grub.ts";
import { addInitramfs } from "./initramfs.ts";
import { addKernel, addSdBoot } from "./inputs.ts";
import { addEnrollment, signingOf } from "./secure-boot.ts";
import { addUki } from "./uki.ts";

/** The variant of an ISO. invalid_input when the boot loader is not resolved where it counts (from 1.12). */
export function isoVariant(recipe: Pick<Recipe, "version" | "profile" | "bootloader">): IsoVariant {
  const rules = quirks(recipe.version);
  if (recipe.profile.secureboot) return "uefi";
  if (!rules.isoBootloader) return rules.systemdBootForUefi ? "hybrid" : "grub";
  switch (recipe.bootloader) {
    case "dual-boot":
      return "hybrid";
    case "sd-boot":
      return "uefi";
    case "grub":
      return "grub";
    case null:
      throw invalidInput(`the ISO image of ${recipe.version} has no boot loader`);
  }
}

/** Adds the ISO step and everything it needs; gives its id. */
export function addIso(b: PlanBuilder, recipe: Recipe): string {
  const { version, profile } = recipe;
  const variant = isoVariant(recipe);
  const commandLine = planCommandLine(b, recipe);
  const signing = signingOf(recipe);
  const needs = [
    ...(variant === "uefi"
      ? []
      : [addKernel(b, recipe), addInitramfs(b, recipe), addGrubIso(b, recipe, variant)]),
    ...(variant === "grub"
      ? []
      : [addSdBoot(b, recipe), addUki(b, recipe, commandLine, isoProfiles(recipe))]),
    ...(signing === null ? [] : [addEnrollment(b, recipe, signing)]),
  ];
  return b.step({
    id: "iso",
    op: "iso",
    phase: "iso",
    title: "Write the ISO image",
    params: {
      version,
      variant,
      arch: profile.arch,
      commandLine: commandLine.param(needs.length),
      enroll: profile.secureboot ? recipe.enrollKeys : "off",
      ...(signing === null ? {} : { keys: true }),
    },
    needs: [...needs, ...commandLine.needs],
    part: false,
  });
}

function isoProfiles(recipe: Recipe): Parameters<typeof addUki>[3] {
  if (!quirks(recipe.version).ukiProfiles) return [];
  return [{ id: "reset", title: "Reset system disk", argument: wipeArgument("iso") }];
}

/** Which GRUB builds an ISO carries: BIOS and EFI for PCs; other machines have no BIOS. */
function grubPlatforms(variant: IsoVariant, arch: Arch): GrubPlatform[] {
  if (variant === "hybrid") return ["i386-pc"];
  return arch === "amd64" ? ["i386-pc", "x86_64-efi"] : ["arm64-efi"];
}

function addGrubIso(b: PlanBuilder, recipe: Recipe, variant: IsoVariant): string {
  const platforms = grubPlatforms(variant, recipe.profile.arch);
  return b.step({
    id: "grub-iso",
    op: "grub-iso",
    phase: "bootloader",
    title: "Gather GRUB for the ISO",
    params: {
      platforms: platforms.map((platform) => ({ platform, installed: installedGrub(recipe, platform) })),
    },
    needs: platforms.map((platform) => addGrubModules(b, recipe, platform)),
    part: true,
  });
}
