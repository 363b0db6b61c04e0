/** The two GRUB builds an ISO can carry: where they are, which modules are inside, where they look for their menu. */

import type { GrubPlatform } from "../grub-modules.ts";

/** Boot image file of BIOS booting, inside the ISO. */
export const GRUB_ELTORITO = "boot/grub/i386-pc/eltorito.img";
/**
 * First sectors of an ISO that also boots when it is written to a USB stick: a file of GRUB's module folder, which the
 * tree of the step "grub-iso" has in boot/ though it is no file of the ISO.
 */
export const GRUB_HYBRID_MBR = "boot_hybrid.img";

/** BIOS: the root is the medium that was booted, so the prefix needs no device. */
export const GRUB_BIOS = {
  name: "i386-pc",
  format: "i386-pc-eltorito",
  prefix: "/boot/grub",
  modules: ["biosdisk", "iso9660", "part_gpt", "part_msdos"],
} as const;

/** EFI, one per architecture: firmware starts it from the FAT image, so it searches the ISO file system by a file that only ISOs have. */
const efi = <Name extends GrubPlatform>(name: Name) => ({
  name,
  format: name,
  prefix: "()/boot/grub",
  modules: ["part_gpt", "part_msdos", "fat", "iso9660", "search", "search_fs_file"],
  config: `search.file /boot/grub/${name}/moddep.lst root\nset prefix=($root)/boot/grub\n`,
});

export const GRUB_EFI = { "x86_64-efi": efi("x86_64-efi"), "arm64-efi": efi("arm64-efi") };

/** Name that firmware looks for in the FAT image (UEFI 2.10 §3.5.1.1); the file system does not know case. */
export const GRUB_EFI_FILE = { "x86_64-efi": "bootx64.efi", "arm64-efi": "bootaa64.efi" };
