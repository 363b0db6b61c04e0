/** What another release thinks of the parts of a schematic that are no extensions. */
import { BOARDS, FIRST_BOARD_VERSION } from "../boards.ts";
import { resolveBootloader } from "../boot-rules.ts";
import { composeCmdline } from "../cmdline.ts";
import type { MachineTarget } from "../machine-target.ts";
import { quirks, RULES } from "../quirks.ts";
import type { Release } from "../release.ts";
import type { Schematic } from "../schematic-types.ts";
import { compareVersions, isPrerelease } from "../versions.ts";
import { whereElse } from "./extension-checks.ts";
import type { Finding, FindingCode, LeavablePart } from "./upgrade-types.ts";

export interface BootQuestion {
  schematic: Schematic;
  from: Release | null;
  to: Release;
  known: readonly Release[];
  target: MachineTarget;
}

const problem = (
  code: FindingCode,
  values: Record<string, string>,
  part: LeavablePart | null = null,
): Finding => ({ level: "problem", code, values, part });

const note = (code: FindingCode, values: Record<string, string> = {}): Finding => ({
  ...{ level: "note", code, values, part: null },
});

const firstOf = (rule: "uki" | "embeddedConfig"): string => `v${RULES[rule].steps[0]?.since ?? ""}`;

function overlayFindings({ schematic, to, known }: BootQuestion): Finding[] {
  const name = schematic.overlay?.name ?? "";
  if (name === "") return [];
  if (!quirks(to.version).overlays)
    return [problem("overlay-since", { overlay: name, since: `v${FIRST_BOARD_VERSION}` })];
  const has = (release: Release) => release.overlays.some((overlay) => overlay.name === name);
  if (has(to)) return [];
  const { state, version } = whereElse(known, to, has);
  if (version !== null) return [problem(`overlay-${state}`, { overlay: name, version })];
  const first = BOARDS.find((board) => board.overlayName === name)?.minVersion;
  if (first && compareVersions(first, to.version) > 0)
    return [problem("overlay-newer", { overlay: name, version: `v${first}` })];
  return [problem("overlay-unknown", { overlay: name })];
}

function embeddedFindings({ schematic, to }: BootQuestion): Finding[] {
  if (!schematic.customization.embeddedMachineConfiguration || quirks(to.version).embeddedConfig) return [];
  return [problem("embedded-since", { since: firstOf("embeddedConfig") }, "embeddedMachineConfiguration")];
}

function bootloaderFindings({ schematic, from, to, target }: BootQuestion): Finding[] {
  const chosen = schematic.customization.bootloader ?? null;
  const at = (version: string) => ({ version, arch: target.arch, secureboot: target.secureboot });
  if (chosen === null) {
    const [before, after] = [
      from && resolveBootloader(at(from.version), null),
      resolveBootloader(at(to.version), null),
    ];
    return before === null || before === after ? [] : [note("bootloader-default", { before, after })];
  }
  if (target.secureboot)
    return chosen === "sd-boot" ? [] : [note("bootloader-secureboot", { bootloader: chosen })];
  if (chosen !== "grub" && !quirks(to.version).uki)
    return [problem("bootloader-since", { bootloader: chosen, since: firstOf("uki") }, "bootloader")];
  if (chosen === "dual-boot" && target.arch !== "amd64")
    return [problem("bootloader-arch", { bootloader: chosen, arch: target.arch }, "bootloader")];
  const gains = from !== null && !quirks(from.version).isoBootloader && quirks(to.version).isoBootloader;
  return gains ? [note("bootloader-iso", { bootloader: chosen })] : [];
}

const MODES = ["if-safe", "manual", "force", "off"];

function secureBootFindings({ schematic, to, target }: BootQuestion): Finding[] {
  if (!target.secureboot) return [];
  const chosen = schematic.customization.secureboot?.enrollKeys ?? "";
  return [
    ...(quirks(to.version).uki ? [] : [problem("secureboot-since", { since: firstOf("uki") })]),
    ...(chosen === "" || MODES.includes(chosen.toLowerCase())
      ? []
      : [problem("enroll-keys", { mode: chosen }, "secureboot.enrollKeys")]),
  ];
}

/** The words that every image of the release starts with on this machine. */
function ownWords(release: Release, target: MachineTarget): string[] {
  const profile = { kind: "image", outFormat: "raw", ...target } as const;
  return composeCmdline({ version: release.version, profile, meta: [], extraKernelArgs: [] }).split(" ");
}

const removes = (word: string, argument: string): boolean =>
  argument.includes("=")
    ? word === argument.slice(1)
    : word === argument.slice(1) || word.startsWith(`${argument.slice(1)}=`);

function argumentFindings({ schematic, from, to, target }: BootQuestion): Finding[] {
  const written = schematic.customization.extraKernelArgs ?? [];
  const words = [...new Set(written.flatMap((item) => item.split(/\s+/)).filter((word) => word !== ""))];
  if (words.length === 0) return [];
  const own = ownWords(to, target);
  const old = from === null ? null : ownWords(from, target);
  const carries = (release: Release) => target.secureboot || quirks(release.version).unifiedInstaller;
  const added = words.filter((word) => !word.startsWith("-"));
  return [
    ...(from !== null && !carries(from) && carries(to) ? [note("arguments-installer")] : []),
    ...(carries(to) || (from !== null && !carries(from)) ? [] : [note("arguments-installer-lost")]),
    ...words.flatMap((argument): Finding[] => {
      if (!argument.startsWith("-")) {
        const isNew = own.includes(argument) && !(old?.includes(argument) ?? false);
        return isNew ? [note("argument-default", { argument })] : [];
      }
      const idle = ![...own, ...added].some((word) => removes(word, argument));
      const wasIdle = old !== null && ![...old, ...added].some((word) => removes(word, argument));
      return idle && !wasIdle ? [note("argument-idle", { argument })] : [];
    }),
  ];
}

function directionFindings({ from, to }: BootQuestion): Finding[] {
  return [
    ...(from !== null && compareVersions(to.version, from.version) < 0 ? [note("downgrade")] : []),
    ...(isPrerelease(to.version) ? [note("prerelease")] : []),
  ];
}

/** Problems and notes of everything but extensions. Throws invalid_input for an unknown platform. */
export const findBootIssues = (question: BootQuestion): Finding[] => [
  ...overlayFindings(question),
  ...embeddedFindings(question),
  ...bootloaderFindings(question),
  ...secureBootFindings(question),
  ...argumentFindings(question),
  ...directionFindings(question),
];
