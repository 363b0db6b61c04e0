/** Adds the ISO: which variant a release and a choice of boot loader give, and what it is made of. */
import { composeCmdline, wipeArgument } from "../../domain/cmdline.ts";
import { quirks } from "../../domain/quirks.ts";
import type { Recipe } from "../../domain/recipe-types.ts";
import { AppError, invalidInput } from "../../errors/app-error.ts";
import type { IsoVariant } from "../../formats/iso-arguments.ts";
import type { PlanBuilder } from "./builder.ts";
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
  if (variant === "grub" && profile.arch === "arm64") {
    throw new AppError("not_implemented", "ISO images for arm64 that boot with GRUB are not built yet", {
      hint: "From 1.10 on ISO images for arm64 boot with systemd-boot; for older releases use a disk image.",
      retryable: false,
    });
  }
  const commandLine = composeCmdline(recipe);
  const signing = signingOf(recipe);
  const needs = [
    ...(variant === "uefi" ? [] : [addKernel(b, recipe), addInitramfs(b, recipe), addGrubIso(b, variant)]),
    ...(variant === "grub"
      ? []
      : [addSdBoot(b, recipe), addUki(b, recipe, commandLine, isoProfiles(recipe, commandLine))]),
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
      commandLine,
      enroll: profile.secureboot ? recipe.enrollKeys : "off",
      ...(signing === null ? {} : { keys: true }),
    },
    needs,
    part: false,
  });
}

function isoProfiles(recipe: Recipe, commandLine: string): Parameters<typeof addUki>[3] {
  if (!quirks(recipe.version).ukiProfiles) return [];
  return [{ id: "reset", title: "Reset system disk", commandLine: `${commandLine} ${wipeArgument("iso")}` }];
}

function addGrubIso(b: PlanBuilder, variant: IsoVariant): string {
  return b.step({
    id: "grub-iso",
    op: "grub-iso",
    phase: "bootloader",
    title: "Gather GRUB for the ISO",
    params: { efi: variant === "grub" },
    needs: [],
    part: true,
  });
}
