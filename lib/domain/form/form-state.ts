/** What a person chose in the form, and its two-way writing as a URL query. Secrets never go into the query. */
import { ARCHES, type Arch } from "../asset.ts";
import { findPlatform } from "../platforms.ts";

export const TARGETS = ["metal", "cloud", "sbc"] as const;
/** metal: bare metal; cloud: a cloud or hypervisor platform; sbc: a single-board computer. */
export type Target = (typeof TARGETS)[number];

export const BOOTLOADER_CHOICES = ["auto", "dual-boot", "sd-boot", "grub"] as const;
export type BootloaderChoice = (typeof BOOTLOADER_CHOICES)[number];

export interface FormState {
  target: Target;
  /** Without "v". */
  version: string;
  arch: Arch;
  /** Counts for target cloud only. */
  platform: string;
  /** Counts for target sbc only. */
  board: string;
  secureboot: boolean;
  /** Catalog names, sorted by byte order, no repeats. */
  extensions: string[];
  /** Kernel arguments as typed. */
  cmdline: string;
  bootloader: BootloaderChoice;
  /** YAML as typed, for boards. */
  overlayOptions: string;
  /** YAML as typed; may hold secrets. */
  embeddedConfig: string;
}

export const DEFAULT_PLATFORM = "nocloud";
export const DEFAULT_BOARD = "rpi_generic";

/** The form nobody touched yet. */
export const initialForm = (version: string): FormState => ({
  target: "metal",
  version,
  arch: "amd64",
  platform: DEFAULT_PLATFORM,
  board: DEFAULT_BOARD,
  secureboot: false,
  extensions: [],
  cmdline: "",
  bootloader: "auto",
  overlayOptions: "",
  embeddedConfig: "",
});

const member = <T extends string>(list: readonly T[], text: string | null): T | undefined =>
  list.find((item) => item === text);

const byBytes = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Names in the order the schematic stores them: byte order, no repeats. */
export const sortedNames = (names: Iterable<string>): string[] => [...new Set(names)].sort(byBytes);

/** The version as the form keeps it: trimmed, without "v". */
export const plainVersion = (text: string): string => text.trim().replace(/^v(?=\d)/, "");

/**
 * Reads a query. What is missing, or a word the form does not know, gets its default; names of platforms, boards,
 * versions and extensions are kept as written, so that the form can say what is wrong with them.
 */
export function readForm(query: URLSearchParams, newestVersion: string): FormState {
  const base = initialForm(newestVersion);
  const text = (name: string, fallback: string) => query.get(name)?.trim() || fallback;
  return {
    target: member(TARGETS, query.get("target")) ?? base.target,
    version: plainVersion(text("version", base.version)),
    arch: member(ARCHES, query.get("arch")) ?? base.arch,
    platform: query.get("target") === "cloud" ? text("platform", base.platform) : base.platform,
    board: text("board", base.board),
    secureboot: ["true", "on", "1"].includes(query.get("secureboot") ?? ""),
    extensions: sortedNames(query.getAll("extensions").filter((name) => name !== "" && name !== "-")),
    cmdline: text("cmdline", ""),
    bootloader: member(BOOTLOADER_CHOICES, query.get("bootloader")) ?? base.bootloader,
    overlayOptions: text("overlay-options", "").replace(/\r\n?/g, "\n"),
    embeddedConfig: "",
  };
}

/** The query that readForm turns back into this choice, keys in a fixed order, defaults left out where harmless. */
export function writeForm(form: FormState): URLSearchParams {
  const query = new URLSearchParams({ target: form.target, version: form.version, arch: form.arch });
  if (form.target === "cloud") query.set("platform", form.platform);
  if (form.target === "sbc") query.set("board", form.board);
  if (form.secureboot) query.set("secureboot", "true");
  for (const name of form.extensions) query.append("extensions", name);
  if (form.cmdline.trim() !== "") query.set("cmdline", form.cmdline.trim());
  if (form.bootloader !== "auto") query.set("bootloader", form.bootloader);
  if (form.target === "sbc" && form.overlayOptions.trim() !== "")
    query.set("overlay-options", form.overlayOptions.trim());
  return query;
}

/** The platform whose files come out. */
export const platformOf = (form: Pick<FormState, "target" | "platform">): string =>
  form.target === "cloud" ? form.platform : "metal";

/** The architecture that counts: boards are arm64, some platforms know only one. */
export function archOf(form: Pick<FormState, "target" | "platform" | "arch">): Arch {
  if (form.target === "sbc") return "arm64";
  const offered = findPlatform(platformOf(form))?.architectures ?? ARCHES;
  return offered.includes(form.arch) ? form.arch : (offered[0] ?? form.arch);
}

/** The choice with everything that does not count put back to its default: equal meaning, equal value. */
export function settleForm(form: FormState): FormState {
  return {
    ...form,
    arch: archOf(form),
    platform: form.target === "cloud" ? form.platform : DEFAULT_PLATFORM,
    board: form.target === "sbc" ? form.board : DEFAULT_BOARD,
    secureboot: form.target !== "sbc" && form.secureboot,
    extensions: sortedNames(form.extensions),
    cmdline: form.cmdline.trim(),
    overlayOptions: form.target === "sbc" ? form.overlayOptions.trim() : "",
  };
}
