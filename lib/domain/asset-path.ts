/** File names of assets: `metal-amd64.iso` says what to build, and every profile has one such name. */
import { invalidInput } from "../errors/app-error.ts";
import type { Arch, AssetProfile, DiskFormat, OutFormat } from "./asset.ts";
import { diskProfile } from "./platforms.ts";
import { quoteText } from "./quote.ts";

const ARCH_NAMES: Record<string, Arch> = { amd64: "amd64", arm64: "arm64", x86_64: "amd64", i386: "amd64" };
/** Cut in this order, at most one. */
const OUT_SUFFIXES = [".tar.gz", ".gz", ".xz", ".zst"] as const satisfies readonly OutFormat[];
const DISK_FORMATS = ["raw", "qcow2", "vhd", "ova"] as const satisfies readonly DiskFormat[];
const SECUREBOOT = "-secureboot";
/** Words that name a kind of file; a disk image of such a "platform" cannot be meant. */
const NOT_A_DISK_PLATFORM = new Set(["iso", "installer"]);

const HINT =
  "Names look like kernel-amd64, initramfs-amd64.xz, metal-amd64.iso, metal-amd64-uki.efi, installer-amd64.tar or metal-amd64.raw.xz.";

const refuse = (reason: string) =>
  invalidInput(`error parsing profile from path: ${reason}`, { hint: HINT, retryable: false });

const badPath = (path: string) => refuse(`invalid profile path: ${quoteText(path)}`);

function cutSuffix(text: string, suffix: string): string | null {
  return text.endsWith(suffix) ? text.slice(0, text.length - suffix.length) : null;
}

function cutPrefix(text: string, prefix: string): string | null {
  return text.startsWith(prefix) ? text.slice(prefix.length) : null;
}

function parseArch(text: string): Arch {
  const arch = Object.hasOwn(ARCH_NAMES, text) ? ARCH_NAMES[text] : undefined;
  if (arch === undefined) throw refuse(`invalid architecture: ${quoteText(text)}`);
  return arch;
}

type Target = Pick<AssetProfile, "platform" | "arch" | "secureboot">;

/** `<platform>-<arch>[-secureboot]`; the platform is not looked up here. */
function parseTarget(text: string): Target {
  const plain = cutSuffix(text, SECUREBOOT);
  const rest = plain ?? text;
  const dash = rest.indexOf("-");
  if (dash < 1) throw refuse(`invalid platform-arch: ${quoteText(rest)}`);
  let platform = rest.slice(0, dash);
  let arch = rest.slice(dash + 1);
  if (platform === "digital" && arch.startsWith("ocean-")) {
    platform = "digital-ocean";
    arch = arch.slice("ocean-".length);
  }
  return { platform, arch: parseArch(arch), secureboot: plain !== null };
}

function parseInstaller(path: string): AssetProfile | null {
  const name = cutSuffix(path, ".tar");
  if (name === null) return null;
  const legacy = cutPrefix(name, "installer-");
  if (legacy !== null) {
    const plain = cutSuffix(legacy, SECUREBOOT);
    const arch = parseArch(plain ?? legacy);
    return { kind: "installer", platform: "metal", arch, secureboot: plain !== null, outFormat: "raw" };
  }
  const middle = "-installer-";
  const at = name.indexOf(middle);
  if (at < 0) return null;
  const target = parseTarget(`${name.slice(0, at)}-${name.slice(at + middle.length)}`);
  return { kind: "installer", ...target, outFormat: "raw" };
}

function parseDisk(path: string): AssetProfile {
  const outFormat = OUT_SUFFIXES.find((suffix) => path.endsWith(suffix));
  const name = outFormat === undefined ? path : path.slice(0, path.length - outFormat.length);
  const format = DISK_FORMATS.find((candidate) => name.endsWith(`.${candidate}`));
  if (format === undefined) throw badPath(name);
  const target = parseTarget(name.slice(0, name.length - format.length - 1));
  if (NOT_A_DISK_PLATFORM.has(target.platform)) throw badPath(name);
  return {
    kind: "image",
    ...target,
    outFormat: outFormat ?? "raw",
    disk: diskProfile(target.platform, format),
  };
}

const whole = (kind: AssetProfile["kind"], target: Target): AssetProfile => ({
  kind,
  ...target,
  outFormat: "raw",
});

/**
 * What the last path segment of an asset URL asks for (docs/asset-names.md). Throws invalid_input with the
 * prefix `error parsing profile from path: `. Whether the platform exists is checked later.
 */
export function parseAssetPath(path: string): AssetProfile {
  const kernel = cutPrefix(path, "kernel-");
  if (kernel !== null)
    return whole("kernel", { platform: "metal", arch: parseArch(kernel), secureboot: false });

  const cmdline = cutPrefix(path, "cmdline-");
  if (cmdline !== null) return whole("cmdline", parseTarget(cmdline));

  const initramfs = cutPrefix(cutSuffix(path, ".xz") ?? "", "initramfs-");
  if (initramfs !== null) {
    return whole("initramfs", { platform: "metal", arch: parseArch(initramfs), secureboot: false });
  }

  const iso = cutSuffix(path, ".iso");
  if (iso !== null) return whole("iso", parseTarget(iso));

  const uki = cutSuffix(path, "-uki.efi");
  if (uki !== null) return whole("uki", parseTarget(uki));

  return parseInstaller(path) ?? parseDisk(path);
}

function targetName(target: Target): string {
  return `${target.platform}-${target.arch}${target.secureboot ? SECUREBOOT : ""}`;
}

/** The path that parses to this profile, with resolved architecture names: the inverse of parseAssetPath. */
export function assetFileName(profile: AssetProfile): string {
  const target = targetName(profile);
  switch (profile.kind) {
    case "kernel":
      return `kernel-${profile.arch}`;
    case "initramfs":
      return `initramfs-${profile.arch}.xz`;
    case "cmdline":
      return `cmdline-${target}`;
    case "iso":
      return `${target}.iso`;
    case "uki":
      return `${target}-uki.efi`;
    case "installer":
      return profile.platform === "metal"
        ? `installer-${target.slice("metal-".length)}.tar`
        : `${profile.platform}-installer-${target.slice(profile.platform.length + 1)}.tar`;
    case "image": {
      const suffix = profile.outFormat === "raw" ? "" : profile.outFormat;
      return `${target}.${profile.disk?.format ?? "raw"}${suffix}`;
    }
  }
}

/** The file name the imager itself uses for its output (`initramfs-metal-amd64.xz`, `installer-arm64.tar`). */
export function imagerFileName(profile: AssetProfile): string {
  if (profile.kind === "initramfs") return `initramfs-${targetName(profile)}.xz`;
  if (profile.kind === "installer") return assetFileName({ ...profile, platform: "metal" });
  return assetFileName(profile);
}

export type Sidecar = "sha256" | "sha512" | "sigstore";

const SIDECARS: readonly [suffix: string, sidecar: Sidecar][] = [
  [".sigstore.json", "sigstore"],
  [".sha512", "sha512"],
  [".sha256", "sha256"],
];

/** Splits `metal-amd64.iso.sha256` into the asset's own path and what is asked about it; null for the asset itself. */
export function splitSidecar(path: string): { path: string; sidecar: Sidecar | null } {
  for (const [suffix, sidecar] of SIDECARS) {
    const rest = cutSuffix(path, suffix);
    if (rest !== null) return { path: rest, sidecar };
  }
  return { path, sidecar: null };
}
