/** The names of the table: which files one platform, architecture, release and SecureBoot choice has. */
import type { Arch } from "../../lib/domain/asset.ts";
import { findPlatform } from "../../lib/domain/platforms.ts";

export interface Group {
  platform: string;
  arch: Arch;
  version: string;
  secureboot: boolean;
}

const DISKS = ["raw", "qcow2", "vhd", "ova"];
const COMPRESSIONS = [".xz", ".zst", ".gz", ".tar.gz"];
/** What --formats takes. "packed" are the outer compressions. */
export const FORMATS = ["kernel", "initramfs", "cmdline", "uki", "iso", "installer", ...DISKS, "packed"];

/** Every combination, those of one release and architecture next to each other so that they share parts. */
export function groupsOf(platforms: string[], arches: Arch[], versions: string[]): Group[] {
  return versions.flatMap((version) =>
    arches.flatMap((arch) =>
      platforms.flatMap((platform) =>
        [false, true].map((secureboot) => ({ platform, arch, version, secureboot })),
      ),
    ),
  );
}

/**
 * File names of a group. Kernel and initramfs are the same for all platforms and stand once. Outer compressions: the
 * platform's own everywhere, all of them around every disk format for metal on amd64.
 */
export function namesOf({ platform, arch, secureboot }: Group, formats: readonly string[]): string[] {
  const target = `${platform}-${arch}${secureboot ? "-secureboot" : ""}`;
  const shared = platform === "metal" && !secureboot;
  const own = findPlatform(platform)?.disk ?? null;
  const everywhere = platform === "metal" && arch === "amd64" && !secureboot;
  const packed = everywhere
    ? DISKS.flatMap((disk) => COMPRESSIONS.map((suffix) => `${target}.${disk}${suffix}`))
    : own === null || own.outFormat === "raw"
      ? []
      : [`${target}.${own.format}${own.outFormat}`];
  const names: Record<string, string[]> = {
    kernel: shared ? [`kernel-${arch}`] : [],
    initramfs: shared ? [`initramfs-${arch}.xz`] : [],
    cmdline: [`cmdline-${target}`],
    uki: [`${target}-uki.efi`],
    iso: [`${target}.iso`],
    installer: [`${platform}-installer-${target.slice(platform.length + 1)}.tar`],
    ...Object.fromEntries(DISKS.map((disk) => [disk, [`${target}.${disk}`]])),
    packed,
  };
  return FORMATS.filter((format) => formats.includes(format)).flatMap((format) => names[format] ?? []);
}
