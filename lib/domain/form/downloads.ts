/** Which files a machine needs, and which others the same schematic gives. */
import type { Arch } from "../asset.ts";
import { BOARD_DISK_PATH } from "../boards.ts";
import { findPlatform, type Platform } from "../platforms.ts";
import { quirks } from "../quirks.ts";
import type { FormState } from "./form-state.ts";
import { archOf, platformOf } from "./form-state.ts";

/** What a file is for, which decides the words beside it. */
export type FileUse = "iso" | "disk" | "board" | "uki" | "kernel" | "initramfs" | "cmdline";

export interface FileChoice {
  /** Last segment of the asset path. */
  path: string;
  use: FileUse;
}

export interface Downloads {
  /** What this machine boots from, best first; empty for a platform that boots over the network alone. */
  first: FileChoice[];
  /** Everything else, by what it is for. */
  others: FileChoice[];
  /** Last segment of the PXE address, null when the platform does not boot over the network. */
  pxe: string | null;
}

export interface DownloadTarget {
  platform: string;
  arch: Arch;
  secureboot: boolean;
  board: boolean;
  version: string;
}

/** The target of a form. */
export const targetOf = (form: FormState): DownloadTarget => ({
  platform: platformOf(form),
  arch: archOf(form),
  secureboot: form.secureboot && form.target !== "sbc",
  board: form.target === "sbc",
  version: form.version,
});

const DISK_SUFFIXES = ["raw.zst", "raw.xz", "raw.gz", "raw.tar.gz", "raw", "qcow2", "vhd", "ova"];

/** `metal-amd64-secureboot`: the start of most names. */
const nameOf = ({ platform, arch, secureboot }: DownloadTarget): string =>
  `${platform}-${arch}${secureboot ? "-secureboot" : ""}`;

function ownDisks(platform: Platform | null, target: DownloadTarget): string[] {
  const suffix = platform?.diskImageSuffix ?? null;
  if (suffix === null) return [];
  return target.platform === "metal" && !target.secureboot ? [suffix, "qcow2"] : [suffix];
}

function firstFiles(platform: Platform | null, target: DownloadTarget): FileChoice[] {
  const name = nameOf(target);
  return (platform?.bootMethods ?? []).flatMap((method): FileChoice[] => {
    if (method === "iso") return [{ path: `${name}.iso`, use: "iso" }];
    if (method === "pxe") return [];
    return ownDisks(platform, target).map((suffix) => ({ path: `${name}.${suffix}`, use: "disk" }));
  });
}

function bootParts(target: DownloadTarget): FileChoice[] {
  const name = nameOf(target);
  const uki: FileChoice[] = quirks(target.version).uki ? [{ path: `${name}-uki.efi`, use: "uki" }] : [];
  if (target.secureboot) return uki;
  return [
    { path: `kernel-${target.arch}`, use: "kernel" },
    { path: `initramfs-${target.arch}.xz`, use: "initramfs" },
    { path: `cmdline-${name}`, use: "cmdline" },
    ...uki,
  ];
}

/** The files for a target. The platform need not exist: then there is nothing it boots from, only the general files. */
export function downloadsFor(target: DownloadTarget): Downloads {
  const platform = findPlatform(target.platform);
  const name = nameOf(target);
  const first: FileChoice[] = target.board
    ? [{ path: BOARD_DISK_PATH, use: "board" }]
    : firstFiles(platform, target);
  const others: FileChoice[] = [
    ...bootParts(target),
    { path: `${name}.iso`, use: "iso" },
    ...DISK_SUFFIXES.map((suffix): FileChoice => ({ path: `${name}.${suffix}`, use: "disk" })),
  ];
  const shown = new Set(first.map((file) => file.path));
  return {
    first,
    others: others.filter((file) => !shown.has(file.path)),
    pxe: !target.board && platform?.bootMethods.includes("pxe") ? name : null,
  };
}
