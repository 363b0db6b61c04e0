/** The two GRUB builds an ISO can carry: where they are, which modules are inside, where they look for their menu. */

/** Boot image file of BIOS booting, inside the ISO. */
export const GRUB_ELTORITO = "boot/grub/i386-pc/eltorito.img";
/** First sectors of an ISO that also boots when it is written to a USB stick, in GRUB's module folder. */
export const GRUB_HYBRID_MBR = "boot_hybrid.img";

/** BIOS: the root is the medium that was booted, so the prefix needs no device. */
export const GRUB_BIOS = {
  name: "i386-pc",
  format: "i386-pc-eltorito",
  prefix: "/boot/grub",
  modules: ["biosdisk", "iso9660", "part_gpt", "part_msdos"],
} as const;

/** EFI: firmware starts it from the FAT image, so it searches the ISO file system by a file that only ISOs have. */
export const GRUB_EFI = {
  name: "x86_64-efi",
  format: "x86_64-efi",
  prefix: "()/boot/grub",
  modules: ["part_gpt", "part_msdos", "fat", "iso9660", "search", "search_fs_file"],
  config: "search.file /boot/grub/x86_64-efi/moddep.lst root\nset prefix=($root)/boot/grub\n",
} as const;
