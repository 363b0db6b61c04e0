/** From a profile as written to one that can be built: base profile, defaults, checks. */
import { AppError, invalidInput } from "../../errors/app-error.ts";
import { ARCHES, type Arch, type AssetKind, type DiskFormat, type OutFormat } from "../asset.ts";
import { diskSize, refuseDualBoot, resolveBootloader } from "../boot-rules.ts";
import { kernelPlatform } from "../platform-arguments.ts";
import { quirks } from "../quirks.ts";
import type { Bootloader, EnrollKeys } from "../recipe-types.ts";
import { builtInProfile } from "./built-in.ts";
import { mergeProfile } from "./merge.ts";
import type { ImagerProfile } from "./types.ts";

/** A profile without anything left open. */
export interface CompleteProfile {
  source: ImagerProfile;
  kind: AssetKind;
  arch: Arch;
  platform: string;
  secureboot: boolean;
  version: string;
  outFormat: OutFormat;
  /** Null for everything but disk images. */
  disk: { baseBytes: number; wholeBytes: number; format: DiskFormat; formatOptions: string } | null;
  sectorSize: number;
  /** For disk images, and ISOs from 1.12. */
  bootloader: Bootloader | null;
  enrollKeys: EnrollKeys;
}

const KINDS = ["iso", "image", "installer", "kernel", "initramfs", "uki", "cmdline"] as const;
const OUT_FORMATS = ["raw", ".tar.gz", ".xz", ".gz", ".zst"] as const;
const DISK_FORMATS = ["raw", "qcow2", "vhd", "ova"] as const;
const BOOTLOADERS = ["none", "dual-boot", "sd-boot", "grub"] as const;
const ENROLL_KEYS = ["if-safe", "manual", "force", "off"] as const;

/** The exact word, else the word in lower case. */
function choose<T extends string>(what: string, text: string, choices: readonly T[]): T {
  const found =
    choices.find((choice) => choice === text) ?? choices.find((choice) => choice === text.toLowerCase());
  if (found !== undefined) return found;
  throw invalidInput(`${what} ${JSON.stringify(text)} is not known`, {
    hint: `Use one of ${choices.join(", ")}.`,
  });
}

/** Lays the profile over the one it names; `extra` are further named profiles, which win over the built-in ones. */
export function inherit(profile: ImagerProfile, extra: Record<string, ImagerProfile> = {}): ImagerProfile {
  const name = profile.baseProfileName ?? "";
  if (name === "") return profile;
  return mergeProfile(extra[name] ?? builtInProfile(name), profile);
}

/**
 * The profile with defaults filled in and checked. Its version must be set. invalid_input for what makes no sense;
 * not_implemented for what a release or this imager cannot make.
 */
export function completeProfile(source: ImagerProfile): CompleteProfile {
  const output = source.output ?? {};
  const kind = choose("output kind", output.kind ?? "unknown", KINDS);
  const arch = choose("architecture", source.arch ?? "", ARCHES);
  const { platform = "", secureboot = false, version = "" } = source;
  if (platform === "") throw invalidInput("the profile has no platform");
  if (version === "") throw invalidInput("the profile has no version");
  kernelPlatform(platform);
  checkName(source.name ?? "");
  const target = { version, arch, secureboot };
  const bootloader = bootloaderOf(kind, target, output);
  checkSupport(source, kind, target);
  const sdBoot = kind === "iso" ? output.isoOptions : output.imageOptions;
  const enroll = choose("sdBootEnrollKeys", sdBoot?.sdBootEnrollKeys ?? "if-safe", ENROLL_KEYS);
  return {
    ...{ source, kind, arch, platform, secureboot, version, bootloader },
    outFormat: choose("output format", output.outFormat ?? "unknown", OUT_FORMATS),
    disk: diskOf(kind, version, bootloader, output),
    sectorSize: sectorSizeOf(kind, output),
    enrollKeys: secureboot ? enroll : "off",
  };
}

/** It is written between quotes, one line each. */
function checkName(name: string): void {
  if (/["\p{Cc}]/u.test(name)) {
    throw invalidInput(`the name ${JSON.stringify(name)} has a quote or a control character`);
  }
}

type Output = NonNullable<ImagerProfile["output"]>;
type Target = { version: string; arch: Arch; secureboot: boolean };

function bootloaderOf(kind: AssetKind, target: Target, output: Output): Bootloader | null {
  if (kind !== "image" && !(kind === "iso" && quirks(target.version).isoBootloader)) return null;
  const options = kind === "iso" ? output.isoOptions : output.imageOptions;
  const chosen = choose("bootloader", options?.bootloader ?? "none", BOOTLOADERS);
  const bootloader = resolveBootloader(target, chosen === "none" ? null : chosen);
  if (kind === "image") refuseDualBoot(bootloader, target.arch);
  return bootloader;
}

function checkSupport(profile: ImagerProfile, kind: AssetKind, { version, secureboot }: Target): void {
  const { customization = {}, input = {} } = profile;
  const has = (list: readonly unknown[] | undefined) => (list?.length ?? 0) > 0;
  if (secureboot && !quirks(version).uki) throw invalidInput(`SecureBoot is not supported for ${version}`);
  if (kind === "installer" && has(customization.metaContents)) {
    throw invalidInput("an installer cannot carry META values");
  }
  if (kind === "kernel" || kind === "initramfs") {
    if (secureboot) throw invalidInput(`a ${kind} cannot be made with SecureBoot`);
    if (has(customization.extraKernelArgs)) throw invalidInput(`a ${kind} cannot carry kernel arguments`);
    if (has(customization.metaContents)) throw invalidInput(`a ${kind} cannot carry META values`);
  }
  if (kind === "uki" && !quirks(version).uki) {
    throw unsupported(`unified kernel images are not supported for ${version}`);
  }
  if (input.imageCache !== undefined) throw unsupported("image caches are not supported");
}

function diskOf(
  kind: AssetKind,
  version: string,
  bootloader: Bootloader | null,
  { imageOptions = {} }: Output,
): CompleteProfile["disk"] {
  if (kind !== "image" || bootloader === null) return null;
  const { diskSize: baseBytes = 0, diskFormat = "unknown", diskFormatOptions = "" } = imageOptions;
  if (baseBytes === 0) throw invalidInput("a disk image needs output.imageOptions.diskSize");
  if (diskFormat === "unknown") throw unsupported("a disk image without a disk format is not supported");
  return {
    baseBytes,
    wholeBytes: diskSize(baseBytes, version, bootloader),
    format: choose("disk format", diskFormat, DISK_FORMATS),
    formatOptions: diskFormatOptions,
  };
}

function sectorSizeOf(kind: AssetKind, { imageOptions }: Output): number {
  const size = imageOptions?.diskSectorSize ?? 0;
  if (kind !== "image" || size === 0 || size === 512) return 512;
  if (size === 4096) return 4096;
  throw invalidInput(`a sector size of ${size} bytes is not supported`, { hint: "Use 512 or 4096." });
}

const unsupported = (message: string): AppError =>
  new AppError("not_implemented", message, { retryable: false });
