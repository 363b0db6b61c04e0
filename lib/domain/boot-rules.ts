/** Which boot loader an image gets and how large that makes its disk. */
import { invalidInput } from "../errors/app-error.ts";
import type { Arch } from "./asset.ts";
import { quirks } from "./quirks.ts";
import type { Bootloader } from "./recipe-types.ts";

const MIB = 1024 * 1024;
const BIOS_MIB = 1;
/** The base sizes of platforms already count a BOOT partition of this size. */
const COUNTED_BOOT_MIB = 1000;

export interface BootTarget {
  version: string;
  arch: Arch;
  secureboot: boolean;
}

/** Throws invalid_input for a disk image that should start on BIOS and UEFI on a machine that has no BIOS. */
export function refuseDualBoot(bootloader: Bootloader, arch: Arch): void {
  if (bootloader !== "dual-boot" || arch === "amd64") return;
  throw invalidInput(`bootloader dual-boot is not supported for ${arch} disk images`, {
    hint: 'Use "sd-boot" or "grub", or leave the choice out.',
  });
}

/**
 * The boot loader of a disk image, and of an ISO from 1.12. SecureBoot always means systemd-boot, whatever was chosen;
 * otherwise the choice stands, and without one the release and the architecture decide.
 */
export function resolveBootloader(target: BootTarget, chosen: Bootloader | null): Bootloader {
  if (target.secureboot) return "sd-boot";
  if (chosen !== null) return chosen;
  if (!quirks(target.version).systemdBootForUefi) return "grub";
  return target.arch === "arm64" ? "sd-boot" : "dual-boot";
}

/** Whole disk in bytes: the base size plus what the release's BOOT partition and a second boot loader need. */
export function diskSize(baseBytes: number, version: string, bootloader: Bootloader): number {
  const bootMiB = quirks(version).bootSizeMiB;
  const second = bootloader === "dual-boot" ? BIOS_MIB + bootMiB : 0;
  return baseBytes + (bootMiB - COUNTED_BOOT_MIB + second) * MIB;
}
