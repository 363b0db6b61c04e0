/** Plans a disk image: partition images, then the disk, then what it is handed out as. */
import { wipeArgument } from "../../domain/cmdline.ts";
import { quirks } from "../../domain/quirks.ts";
import type { Bootloader, Recipe } from "../../domain/recipe-types.ts";
import { AppError } from "../../errors/app-error.ts";
import { SECURE_BOOT_VARIABLES } from "../../formats/efi-auth.ts";
import type { GptPartition } from "../../formats/gpt.ts";
import { grubDiskConfig } from "../../formats/grub-disk-config.ts";
import { guidFromLabel } from "../../formats/guid.ts";
import { loaderConf } from "../../formats/loader-conf.ts";
import type { GrubPlatform } from "../grub-modules.ts";
import type { Json } from "../types.ts";
import type { PlanBuilder } from "./builder.ts";
import { type CommandLine, planCommandLine } from "./command-line.ts";
import { addDiskFormat } from "./disk-format.ts";
import { DISK_GUID, diskPartitions, effectiveBootloader } from "./disk-layout.ts";
import { addGrubModules, installedGrub } from "./grub.ts";
import { addInitramfs } from "./initramfs.ts";
import { addKernel, addSdBoot } from "./inputs.ts";
import { addOverlayInstall, addOverlayOptions } from "./overlay.ts";
import { addEnrollment, signingOf } from "./secure-boot.ts";
import { addUki } from "./uki.ts";

/** META tag that tells the first boot to drop the boot loader that was not used. */
const DUAL_BOOT_TAG = 0x11;

interface DiskFacts {
  recipe: Recipe;
  bootloader: Bootloader;
  diskBytes: number;
  partitions: GptPartition[];
  commandLine: CommandLine;
  /** Step that asks the board for its disk layout, null without a board. */
  boardOptions: string | null;
  /** Step in which the board's overlay writes its files; only disks with GRUB have it. */
  boardFiles: string | null;
}

/** Adds all steps of the disk image the recipe describes; gives the id of the last one. */
export function planImage(b: PlanBuilder, recipe: Recipe): string {
  const facts = diskFacts(b, recipe);
  return addDiskFormat(b, recipe, facts.diskBytes, addDisk(b, facts));
}

/** Checks what the recipe asks for; errors here are seen before a build is queued. */
function diskFacts(b: PlanBuilder, recipe: Recipe): DiskFacts {
  const { profile, bootloader, diskSizeBytes, version } = recipe;
  if (profile.disk === undefined || bootloader === null || diskSizeBytes === null) {
    throw new AppError("internal", "a disk image needs a format, a boot loader and a size", {
      retryable: false,
    });
  }
  const loader = effectiveBootloader(bootloader, profile.secureboot);
  const partitions = diskPartitions(version, loader);
  const { overlay } = recipe;
  return {
    recipe,
    bootloader: loader,
    diskBytes: diskSizeBytes,
    partitions,
    commandLine: planCommandLine(b, recipe),
    boardOptions: overlay === null ? null : addOverlayOptions(b, overlay),
    boardFiles:
      overlay === null || loader === "sd-boot" ? null : addOverlayInstall(b, overlay, diskSizeBytes),
  };
}

function addDisk(b: PlanBuilder, facts: DiskFacts): string {
  const { recipe, bootloader, partitions } = facts;
  const needs: string[] = [];
  const place = (step: string): number => needs.push(step) - 1;
  const contents: Json[] = [{ partition: "EFI", need: place(addEsp(b, facts)) }];
  if (bootloader !== "sd-boot") contents.push({ partition: "BOOT", need: place(addBoot(b, facts)) });
  const bios = bootloader !== "sd-boot" && recipe.profile.arch === "amd64";
  const grub = bios ? place(addGrubCore(b, recipe, "i386-pc")) : null;
  const entriesOffset = facts.boardOptions === null ? 0 : { need: place(facts.boardOptions) };
  const prepared = facts.boardFiles === null ? {} : { prepared: place(facts.boardFiles) };
  return b.step({
    id: "disk",
    op: "disk-image",
    phase: "disk",
    title: "Put the partitions together into one disk",
    params: {
      diskBytes: facts.diskBytes,
      sectorSize: recipe.sectorSize,
      diskGuid: DISK_GUID,
      entriesOffset,
      ...prepared,
      partitions: partitions.map(({ name, type, guid, attributes, size }) => ({
        name,
        type,
        guid,
        attributes,
        size,
      })),
      contents,
      grub,
      meta: metaRecords(facts),
      footer: recipe.profile.disk?.format === "vhd" ? "vhd" : "none",
    },
    needs,
    part: false,
  });
}

/** Null leaves the META partition zero. Values of the schematic never displace the tag of dual-boot. */
function metaRecords({ recipe, bootloader }: DiskFacts): Json {
  const records = recipe.meta.map(({ key, value }) => ({ tag: key, value }));
  if (bootloader === "dual-boot") records.push({ tag: DUAL_BOOT_TAG, value: "dual-boot" });
  return records.length === 0 ? null : records;
}

function partitionBytes(facts: DiskFacts, name: string): number {
  const size = facts.partitions.find((partition) => partition.name === name)?.size;
  if (typeof size !== "number") throw new AppError("internal", `the disk has no partition ${name}`);
  return size;
}

function addEsp(b: PlanBuilder, facts: DiskFacts): string {
  const { recipe, bootloader, commandLine } = facts;
  const loaderPath = recipe.profile.arch === "amd64" ? "EFI/boot/BOOTX64.efi" : "EFI/boot/BOOTAA64.efi";
  const platform = recipe.profile.arch === "amd64" ? "x86_64-efi" : "arm64-efi";
  const grub = bootloader === "grub";
  const needs = grub
    ? [addGrubCore(b, recipe, platform)]
    : [addUki(b, recipe, commandLine, ukiProfiles(facts)), addSdBoot(b, recipe)];
  const files: Json[] = grub
    ? [{ path: loaderPath, need: 0 }]
    : [
        { path: `EFI/Linux/Talos-${recipe.version}.efi`, need: 0 },
        { path: loaderPath, need: 1 },
        ...enrolledFiles(b, recipe, needs),
      ];
  return b.step({
    id: "esp",
    op: "disk-esp",
    phase: "filesystem",
    title: "Fill the EFI system partition",
    params: {
      sizeBytes: partitionBytes(facts, "EFI"),
      sectorSize: recipe.sectorSize,
      files,
      ...(facts.boardFiles === null ? {} : { tree: needs.push(facts.boardFiles) - 1 }),
    },
    needs,
    part: false,
  });
}

/** loader.conf, and the keys to enroll unless the schematic wants none; adds their step to `needs`. */
function enrolledFiles(b: PlanBuilder, recipe: Recipe, needs: string[]): Json[] {
  const signing = signingOf(recipe);
  const settings = (enroll: string | null): Json => ({
    path: "loader/loader.conf",
    text: loaderConf(enroll),
  });
  if (signing === null || recipe.enrollKeys === "off") return [settings(null)];
  const keys = needs.push(addEnrollment(b, recipe, signing)) - 1;
  const files = SECURE_BOOT_VARIABLES.map((name) => ({
    path: `loader/keys/auto/${name}.auth`,
    need: keys,
    member: `${name}.auth`,
  }));
  return [settings(recipe.enrollKeys), ...files];
}

function ukiProfiles({ recipe }: DiskFacts): { id: string; title: string; argument: string }[] {
  if (!quirks(recipe.version).ukiProfiles) return [];
  return [
    {
      id: "reset-maintenance",
      title: "Reset to maintenance mode",
      argument: wipeArgument("image"),
    },
  ];
}

function addBoot(b: PlanBuilder, facts: DiskFacts): string {
  const { recipe, commandLine } = facts;
  const { version, sectorSize } = recipe;
  const needs = [addKernel(b, recipe), addInitramfs(b, recipe)];
  return b.step({
    id: "boot",
    op: "boot-image",
    phase: "filesystem",
    title: "Fill the BOOT partition with kernel, initramfs and menu",
    params: {
      sizeBytes: partitionBytes(facts, "BOOT"),
      sectorSize,
      guid: guidFromLabel("BOOT"),
      ...grubMenu(version, commandLine.param(needs.length)),
    },
    needs: [...needs, ...commandLine.needs],
    part: false,
  });
}

/** The menu's text, or what it is made of when the board's arguments are not known yet. */
function grubMenu(version: string, commandLine: Json): Record<string, Json> {
  const resetEntry = quirks(version).resetMenuEntry;
  return typeof commandLine === "string"
    ? { grubConfig: grubDiskConfig({ version, commandLine, resetEntry }) }
    : { menu: { version, resetEntry, commandLine } };
}

function addGrubCore(b: PlanBuilder, recipe: Recipe, platform: GrubPlatform): string {
  return b.step({
    id: `grub-${platform}`,
    op: "grub-core",
    phase: "bootloader",
    title: `Make GRUB's core image for ${platform}`,
    params: { platform, installed: installedGrub(recipe, platform) },
    needs: [addGrubModules(b, recipe, platform)],
    part: true,
  });
}
