/** Every program this product may start, and the Debian package that brings it. */
export const TOOLS = {
  xz: "xz-utils",
  zstd: "zstd",
  pigz: "pigz",
  tar: "tar",
  mksquashfs: "squashfs-tools",
  unsquashfs: "squashfs-tools",
  tar2sqfs: "squashfs-tools-ng",
  xorriso: "xorriso",
  mcopy: "mtools",
  mmd: "mtools",
  mattrib: "mtools",
  "mkfs.vfat": "dosfstools",
  "mkfs.xfs": "xfsprogs",
  "grub-mkimage": "grub-common",
  "qemu-img": "qemu-utils",
  depmod: "kmod",
  bwrap: "bubblewrap",
  prlimit: "util-linux",
} as const;

export type ToolName = keyof typeof TOOLS;
