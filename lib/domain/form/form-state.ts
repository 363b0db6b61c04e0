/** What a person chose in the form; docs/web.md says what each part becomes in a schematic. */
import { ARCHES, type Arch } from "../asset.ts";
import { findPlatform } from "../platforms.ts";
import type { MetaField } from "./meta-fields.ts";

export const TARGETS = ["metal", "cloud", "sbc"] as const;
/** metal: bare metal; cloud: a cloud or hypervisor platform; sbc: a single-board computer. */
export type Target = (typeof TARGETS)[number];

export const BOOTLOADER_CHOICES = ["auto", "dual-boot", "sd-boot", "grub"] as const;
export type BootloaderChoice = (typeof BOOTLOADER_CHOICES)[number];

/** Ways of putting the keys into the firmware; "" leaves it to the imager. */
export const ENROLL_CHOICES = ["", "if-safe", "manual", "force", "off"] as const;

/** Sizes of a disk's sectors; "" leaves it to the imager. */
export const SECTOR_CHOICES = ["", "512", "4096"] as const;

export interface FormState {
  target: Target;
  /** Without "v". */
  version: string;
  arch: Arch;
  /** Counts for target cloud only. */
  platform: string;
  /** Counts for target sbc only; OTHER_BOARD: the overlay is named by hand. */
  board: string;
  overlayName: string;
  overlayImage: string;
  secureboot: boolean;
  /** One of ENROLL_CHOICES, or what an opened schematic says. */
  enrollKeys: string;
  wellKnownCertificates: boolean;
  /** Catalog names in the order of the schematic. */
  extensions: string[];
  /** Kernel arguments as typed, see argument-text.ts. */
  cmdline: string;
  bootloader: BootloaderChoice;
  /** One of SECTOR_CHOICES, or what an opened schematic says. */
  sectorSize: string;
  /** YAML as typed, for boards. */
  overlayOptions: string;
  meta: MetaField[];
  /** YAML as typed; may hold secrets. */
  embeddedConfig: string;
}

const DEFAULT_PLATFORM = "nocloud";
const DEFAULT_BOARD = "rpi_generic";
/** A board that the form has no name for. */
export const OTHER_BOARD = "other";

/** The form nobody touched yet. */
export const initialForm = (version: string): FormState => ({
  target: "metal",
  version,
  arch: "amd64",
  platform: DEFAULT_PLATFORM,
  board: DEFAULT_BOARD,
  overlayName: "",
  overlayImage: "",
  secureboot: false,
  enrollKeys: "",
  wellKnownCertificates: false,
  extensions: [],
  cmdline: "",
  bootloader: "auto",
  sectorSize: "",
  overlayOptions: "",
  meta: [],
  embeddedConfig: "",
});

/** The version as the form keeps it: trimmed, without "v". */
export const plainVersion = (text: string): string => text.trim().replace(/^v(?=\d)/, "");

/** The platform whose files come out. */
export const platformOf = (form: Pick<FormState, "target" | "platform">): string =>
  form.target === "cloud" ? form.platform : "metal";

/** The architecture that counts: boards are arm64, some platforms know only one. */
export function archOf(form: Pick<FormState, "target" | "platform" | "arch">): Arch {
  if (form.target === "sbc") return "arm64";
  const offered = findPlatform(platformOf(form))?.architectures ?? ARCHES;
  return offered.includes(form.arch) ? form.arch : (offered[0] ?? form.arch);
}

/** Line ends as a schematic stores them; browsers send CRLF. */
export const plainLines = (text: string): string => text.replace(/\r\n?/g, "\n");

const unlessBlank = (text: string): string => (text.trim() === "" ? "" : plainLines(text));

/** The choice with everything that does not count put back to its default: equal meaning, equal value. */
export function settleForm(form: FormState): FormState {
  const onBoard = form.target === "sbc";
  const named = onBoard && form.board === OTHER_BOARD;
  return {
    ...form,
    arch: archOf(form),
    platform: form.target === "cloud" ? form.platform : DEFAULT_PLATFORM,
    board: onBoard ? form.board : DEFAULT_BOARD,
    overlayName: named ? form.overlayName : "",
    overlayImage: named ? form.overlayImage : "",
    secureboot: !onBoard && form.secureboot,
    cmdline: form.cmdline.trim(),
    overlayOptions: onBoard ? unlessBlank(form.overlayOptions) : "",
    meta: form.meta.map(({ key, value }) => ({ key: key.trim(), value: plainLines(value) })),
  };
}
