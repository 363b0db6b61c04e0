/** Which partitions a disk image has, by boot loader and release. */

import { quirks } from "../../domain/quirks.ts";
import type { Bootloader } from "../../domain/recipe-types.ts";
import { META_BYTES } from "../../formats/adv.ts";
import type { GptPartition } from "../../formats/gpt.ts";
import { guidFromLabel } from "../../formats/guid.ts";

const MIB = 1024 * 1024;
const GRUB_ESP_MIB = 100;
const BIOS_MIB = 1;
const STATE_MIB = 100;

/** Partition types: UEFI 2.10 table 5.7, GRUB's BIOS boot partition, Linux file system data. */
const TYPES = {
  efi: "c12a7328-f81f-11d2-ba4b-00a0c93ec93b",
  bios: "21686148-6449-6e6f-744e-656564454649",
  linux: "0fc63daf-8483-4772-8e79-3d69d8477de4",
};
/** Attribute bit 2, legacy BIOS bootable (UEFI 2.10 table 5.6). */
const LEGACY_BOOT = 4;

/** GUID of every disk made here. */
export const DISK_GUID = guidFromLabel("talos-image-disk");

export type PartitionLabel = "EFI" | "BIOS" | "BOOT" | "META" | "STATE" | "EPHEMERAL";

function partition(name: PartitionLabel, type: keyof typeof TYPES, size: number | "rest"): GptPartition {
  const attributes = name === "BIOS" ? LEGACY_BOOT : 0;
  return { name, type: TYPES[type], guid: guidFromLabel(name), attributes, size };
}

/**
 * The boot loader a disk really gets: SecureBoot firmware starts only what is signed, and of the boot loaders only
 * systemd-boot is. What cannot be had (dual-boot on arm64) the recipe has refused already.
 */
export const effectiveBootloader = (asked: Bootloader, secureboot: boolean): Bootloader =>
  secureboot ? "sd-boot" : asked;

/**
 * The partitions in table order. BOOT is always entry 3 where there is one: that number is compiled into GRUB.
 * STATE and EPHEMERAL of releases before 1.8 are entries only, nothing is written into them.
 */
export function diskPartitions(version: string, bootloader: Bootloader): GptPartition[] {
  const { bootSizeMiB, skipDataPartitions } = quirks(version);
  const meta = partition("META", "linux", META_BYTES);
  const bios = partition("BIOS", "bios", BIOS_MIB * MIB);
  const boot = partition("BOOT", "linux", bootSizeMiB * MIB);
  const ukiEsp = partition("EFI", "efi", (GRUB_ESP_MIB + BIOS_MIB + bootSizeMiB) * MIB);
  const data = skipDataPartitions
    ? []
    : [partition("STATE", "linux", STATE_MIB * MIB), partition("EPHEMERAL", "linux", "rest")];
  switch (bootloader) {
    case "grub":
      return [partition("EFI", "efi", GRUB_ESP_MIB * MIB), bios, boot, meta, ...data];
    case "dual-boot":
      return [ukiEsp, bios, boot, meta, ...data];
    case "sd-boot":
      return [ukiEsp, meta, ...data];
  }
}
