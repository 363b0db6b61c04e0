/** The platforms images are made for: names, texts, boot methods and disk defaults. */
import type { Arch, DiskFormat, DiskProfile, OutFormat } from "./asset.ts";
import rows from "./data/platforms.json" with { type: "json" };

export type BootMethod = "iso" | "disk-image" | "pxe";

export interface Platform {
  name: string;
  label: string;
  /** One line for people. */
  description: string;
  /** First release that offers it, compared by full precedence; null for all. A hint for pages, not a gate. */
  minVersion: string | null;
  architectures: Arch[];
  /** Path below the documentation base of a release, null when there is no page. */
  documentation: string | null;
  /** Suffix of the disk image people usually want, for example "raw.xz"; null when the platform boots otherwise. */
  diskImageSuffix: string | null;
  /** In the order in which to offer them. */
  bootMethods: BootMethod[];
  secureBootSupported: boolean;
  /** Defaults of disk images; null when the platform has none of its own. */
  disk: { format: DiskFormat; outFormat: OutFormat; sizeBytes: number; formatOptions: string } | null;
}

/** Metal first, then the clouds in the order of the user interface. */
export const PLATFORMS: readonly Platform[] = rows as Platform[];

const byName = new Map(PLATFORMS.map((platform) => [platform.name, platform]));

/** The platform with this exact name, or null. */
export function findPlatform(name: string): Platform | null {
  return byName.get(name) ?? null;
}

/** Names of all platforms, sorted. */
export function platformNames(): string[] {
  return [...byName.keys()].sort();
}

const DEFAULT_DISK_BYTES = 8192 * 1024 * 1024;

/**
 * Size and qemu-img options of a disk image before version-dependent additions. The options of a platform apply
 * whatever format is asked for; qcow2 has its own default.
 */
export function diskProfile(platform: string, format: DiskFormat): DiskProfile {
  const own = findPlatform(platform)?.disk ?? null;
  const formatOptions = format === "qcow2" ? "cluster_size=8k" : "";
  return {
    format,
    sizeBytes: own?.sizeBytes ?? DEFAULT_DISK_BYTES,
    formatOptions: own === null || own.formatOptions === "" ? formatOptions : own.formatOptions,
  };
}
