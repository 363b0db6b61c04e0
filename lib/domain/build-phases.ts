/** The parts of a build as people see them, in their usual order. */
export const PHASES = [
  "fetch",
  "extensions",
  "initramfs",
  "uki",
  "bootloader",
  "filesystem",
  "iso",
  "disk",
  "installer",
  "compress",
  "sign",
] as const;
export type Phase = (typeof PHASES)[number];
