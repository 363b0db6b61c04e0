/** What a release can and cannot do for a choice, with the first release that can: the reasons the form shows. */
import type { Arch } from "../asset.ts";
import { type Board, FIRST_BOARD_VERSION } from "../boards.ts";
import { findPlatform, type Platform } from "../platforms.ts";
import { quirks, RULES } from "../quirks.ts";
import { compareVersions, isAtLeast } from "../versions.ts";
import { archOf, type BootloaderChoice, type FormState, platformOf } from "./form-state.ts";

/** Why something cannot be chosen. "since" names the first release that has it. */
export type Lack =
  | { reason: "since"; version: string }
  | { reason: "platform" }
  | { reason: "arch" }
  | { reason: "secureboot" }
  | { reason: "board" };

const since = (version: string): Lack => ({ reason: "since", version });

const unlessAtLeast = (version: string, minimum: string | null): Lack | null =>
  minimum === null || isAtLeast(version, minimum) ? null : since(minimum);

/** Null when the release offers the platform. */
export const platformLack = (platform: Platform, version: string): Lack | null =>
  unlessAtLeast(version, platform.minVersion);

/** Null when the release offers the board. */
export function boardLack(board: Board, version: string): Lack | null {
  if (!quirks(version).overlays) {
    const own = board.minVersion ?? FIRST_BOARD_VERSION;
    return since(compareVersions(own, FIRST_BOARD_VERSION) > 0 ? own : FIRST_BOARD_VERSION);
  }
  return unlessAtLeast(version, board.minVersion);
}

/** Null when the release can use an overlay that is no known board's. */
export const overlayLack = (version: string): Lack | null =>
  quirks(version).overlays ? null : since(FIRST_BOARD_VERSION);

/** Null when files for the architecture are made. */
export function archLack(form: FormState, arch: Arch): Lack | null {
  if (form.target === "sbc") return arch === "arm64" ? null : { reason: "board" };
  const platform = findPlatform(platformOf(form));
  return platform === null || platform.architectures.includes(arch) ? null : { reason: "platform" };
}

/** Null when SecureBoot can be chosen. */
export function secureBootLack(form: FormState): Lack | null {
  if (form.target === "sbc") return { reason: "board" };
  if (!quirks(form.version).uki) return since(RULES.uki.steps[0]?.since ?? "");
  return findPlatform(platformOf(form))?.secureBootSupported === false ? { reason: "platform" } : null;
}

/** Null when this boot loader can be chosen. */
export function bootloaderLack(form: FormState, choice: BootloaderChoice): Lack | null {
  if (choice === "auto") return null;
  if (form.secureboot && choice !== "sd-boot") return { reason: "secureboot" };
  if (choice === "grub") return null;
  if (!quirks(form.version).uki) return since(RULES.uki.steps[0]?.since ?? "");
  return choice === "dual-boot" && archOf(form) !== "amd64" ? { reason: "arch" } : null;
}

/** Null when a machine configuration can be embedded. */
export const embeddedConfigLack = (version: string): Lack | null =>
  quirks(version).embeddedConfig ? null : since(RULES.embeddedConfig.steps[0]?.since ?? "");

/** True where the boot loader counts for disk images only, because ISOs of the release have a fixed one. */
export const bootloaderSparesIso = (version: string): boolean => !quirks(version).isoBootloader;
