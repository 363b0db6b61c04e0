/** What one downloadable file is: the resolved profile of an asset path. */

export const ARCHES = ["amd64", "arm64"] as const;
export type Arch = (typeof ARCHES)[number];

export type AssetKind = "kernel" | "cmdline" | "initramfs" | "iso" | "uki" | "installer" | "image";
export type DiskFormat = "raw" | "qcow2" | "vhd" | "ova";
export type OutFormat = "raw" | ".tar.gz" | ".gz" | ".xz" | ".zst";

export interface DiskProfile {
  format: DiskFormat;
  /** Base size in bytes, before the additions that depend on the version (docs/imager.md, disk sizes). */
  sizeBytes: number;
  /** Option string for qemu-img, empty when none. */
  formatOptions: string;
}

export interface AssetProfile {
  kind: AssetKind;
  platform: string;
  arch: Arch;
  secureboot: boolean;
  outFormat: OutFormat;
  /** Set for kind "image" only. */
  disk?: DiskProfile;
}
