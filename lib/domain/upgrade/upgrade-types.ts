/** What a check of a schematic against another release says. docs/web.md lists the codes. */
import type { ExtensionImage } from "../schematic-diff.ts";
import type { Schematic } from "../schematic-types.ts";

/**
 * present: under the written name; renamed: under a newer name; newer: only newer releases have it; gone: only older
 * ones have it; unknown: no known release has it.
 */
export type ExtensionState = "present" | "renamed" | "newer" | "gone" | "unknown";

export interface ExtensionCheck {
  /** As the schematic writes it. */
  name: string;
  state: ExtensionState;
  /** What the running release has; null without one, or when it lacks it. */
  before: ExtensionImage | null;
  /** What the target has; null when it lacks it. */
  after: ExtensionImage | null;
  /** First newer release that has it (newer), or last older one that had it (gone). */
  version: string | null;
  /** What the migrated schematic does with it. */
  action: "keep" | "rename" | "merge" | "leave-out";
}

export type FindingCode =
  | "overlay-since"
  | "overlay-newer"
  | "overlay-gone"
  | "overlay-unknown"
  | "embedded-since"
  | "bootloader-since"
  | "bootloader-arch"
  | "secureboot-since"
  | "enroll-keys"
  | "refused"
  | "bootloader-default"
  | "bootloader-iso"
  | "bootloader-secureboot"
  | "arguments-installer"
  | "arguments-installer-lost"
  | "argument-default"
  | "argument-idle"
  | "prerelease"
  | "downgrade";

export interface Finding {
  /** problem: files of the target are refused; note: something works otherwise than before. */
  level: "problem" | "note";
  code: FindingCode;
  values: Record<string, string>;
  /** Name of the part that can be left out to settle it; null when nothing can be left out. */
  part: LeavablePart | null;
}

/** Parts that may be left out to settle a problem, besides extensions by their names. */
export const LEAVABLE_PARTS = [
  "embeddedMachineConfiguration",
  "bootloader",
  "secureboot.enrollKeys",
] as const;
export type LeavablePart = (typeof LEAVABLE_PARTS)[number];

export interface UpgradeCheck {
  extensions: ExtensionCheck[];
  /** Problems first. Those settled by leaving a part out are not among them. */
  findings: Finding[];
  /** Parts that the migrated schematic leaves out. */
  leftOut: LeavablePart[];
  migrated: {
    schematic: Schematic;
    /** Canonical YAML. */
    canonical: string;
    id: string;
    /** True when nothing had to be changed. */
    unchanged: boolean;
  };
  /** True when every file of the target can be made from the migrated schematic. */
  ready: boolean;
  /** Newest release of each minor line between the two, then the target; one entry when nothing lies between. */
  stops: string[];
}
