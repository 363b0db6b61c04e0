/** What differs between releases, as one table: docs/versions.md is the same table for people. */
import { compareCore, comparePrecedence, parseVersionLeniently, type Version } from "./versions.ts";

type Value = boolean | number | string;

interface Rule<T extends Value> {
  /** Value of releases below the first step. */
  base: T;
  /** Ascending: from this release on the value holds. Pre-releases count as their final release, see `exact`. */
  steps: { since: string; value: T }[];
  /** Value when the version text cannot be read. */
  unknown: T;
  /** True: pre-releases sort below their final release for this rule. */
  exact?: true;
  /** What the rule changes, one line. */
  effect: string;
}

const from = (since: string, effect: string, unknown = true): Rule<boolean> => ({
  base: false,
  steps: [{ since, value: true }],
  unknown,
  effect,
});

const before = (until: string, effect: string): Rule<boolean> => ({
  base: true,
  steps: [{ since: until, value: false }],
  unknown: false,
  effect,
});

const choice = <T extends Value>(base: T, steps: [since: string, value: T][], effect: string): Rule<T> => ({
  base,
  steps: steps.map(([since, value]) => ({ since, value })),
  unknown: steps.at(-1)?.[1] ?? base,
  effect,
});

/** Every version rule, in the order in which releases brought them. */
export const RULES = {
  resetMenuEntry: from("1.4.0", "GRUB menus have a reset entry"),
  uki: from("1.5.0", "unified kernel images and SecureBoot can be built"),
  multidocConfig: from(
    "1.5.0",
    "machine configuration may hold several documents; image building does not use it",
  ),
  compressedMetaEnvironment: from("1.6.3", "long META values on the command line are gzip-compressed"),
  overlays: from(
    "1.7.0",
    "board overlays are allowed and the schematic extension carries the schematic text",
  ),
  compression: choice<"xz" | "zstd">(
    "xz",
    [["1.8.0", "zstd"]],
    "extensions and the appended initramfs are compressed with it",
  ),
  isoLabel: from("1.8.0", "ISO images carry a volume id with the version"),
  metalSerialConsole: before("1.8.0", "metal on amd64 starts with console=ttyS0"),
  haltIfInstalled: from("1.8.0", "ISO images get talos.halt_if_installed=1"),
  skipDataPartitions: from("1.8.0", "disk images have no STATE and EPHEMERAL partitions"),
  selinux: from("1.10.0", "selinux=1 is a default argument"),
  systemdBootForUefi: from(
    "1.10.0",
    "UEFI boots with systemd-boot: dual-boot or sd-boot is the default, ISOs are hybrid",
    false,
  ),
  kernelModulePath: choice(
    "/lib/modules",
    [["1.10.0", "/usr/lib/modules"]],
    "where kernel modules live in the initramfs and in extensions",
  ),
  firmwarePath: choice(
    "/lib/firmware",
    [["1.10.0", "/usr/lib/firmware"]],
    "where firmware and microcode live",
  ),
  ukiProfiles: from("1.10.0", "a unified kernel image holds a second profile that resets the machine"),
  unifiedInstaller: from("1.10.0", "installers are built on installer-base and carry a unified kernel image"),
  bootSizeMiB: choice(1000, [["1.11.0", 2000]], "size of the BOOT partition in MiB"),
  xfsProfile: choice(
    "lts_6.1",
    [
      ["1.8.0", "lts_6.6"],
      ["1.10.0", "lts_6.12"],
      ["1.13.0", "lts_6.18"],
    ],
    "mkfs.xfs profile of the BOOT file system",
  ),
  xfsMinAgSizeGiB: choice(
    0,
    [["1.14.0", 64]],
    "smallest XFS allocation group in GiB on a running node; image building does not use it",
  ),
  ima: before("1.11.0", "ima_template, ima_appraise and ima_hash are default arguments"),
  talosctlDownload: from("1.11.0", "talosctl binaries are offered for download"),
  embeddedConfig: from("1.12.0", "a machine configuration can be embedded"),
  moduleSignatures: from("1.12.0", "module.sig_enforce=1 is a default argument"),
  isoBootloader: from("1.12.0", "the boot loader of an ISO can be chosen"),
  procMemOverride: from("1.13.0", "proc_mem.force_override=never is a default argument"),
  initOnAlloc: before("1.14.0", "init_on_alloc=1 is a default argument"),
  nvmeTimeoutEverywhere: before(
    "1.14.0",
    "nvme_core.io_timeout is a default argument; afterwards only aws has it",
  ),
  lockdown: {
    ...before("1.14.0", "SecureBoot adds lockdown=confidentiality; pre-releases of 1.14 still do"),
    exact: true,
  },
} satisfies Record<string, Rule<Value>>;

export type RuleId = keyof typeof RULES;

type Widen<T> = T extends boolean ? boolean : T extends number ? number : T;
/** All rules resolved for one version. */
export type Quirks = { readonly [Id in RuleId]: Widen<(typeof RULES)[Id]["base"]> };

function valueFor(rule: Rule<Value>, version: Version | null): Value {
  if (version === null) return rule.unknown;
  let value = rule.base;
  for (const step of rule.steps) {
    const since = parseVersionLeniently(step.since);
    if (since === null) continue;
    const order = rule.exact === true ? comparePrecedence(version, since) : compareCore(version, since);
    if (order >= 0) value = step.value;
  }
  return value;
}

const resolved = new Map<string, Quirks>();
const MEMORY = 256;

/**
 * The rules of a release. The version text is read leniently ("v" and spaces allowed); a text that is no version at
 * all behaves as the newest release in most rules.
 */
export function quirks(version: string): Quirks {
  const known = resolved.get(version);
  if (known !== undefined) return known;
  const parsed = parseVersionLeniently(version);
  const entries = Object.entries(RULES).map(([id, rule]) => [id, valueFor(rule, parsed)]);
  const result = Object.freeze(Object.fromEntries(entries)) as Quirks;
  if (resolved.size >= MEMORY) resolved.clear();
  resolved.set(version, result);
  return result;
}

/** Repository of the image that installers are built on: `siderolabs/installer-base`, or `siderolabs/installer` before 1.10. */
export function baseInstallerRepository(version: string): string {
  return quirks(version).unifiedInstaller ? "siderolabs/installer-base" : "siderolabs/installer";
}
