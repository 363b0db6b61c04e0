/** A schematic against another release: what stays, what has to change, and the schematic that fits. */
import { AppError } from "../../errors/app-error.ts";
import type { AssetProfile } from "../asset.ts";
import { refuseTooManyExtensions } from "../extension-lookup.ts";
import type { MachineTarget } from "../machine-target.ts";
import { diskProfile } from "../platforms.ts";
import { resolveRecipe } from "../recipe.ts";
import type { Release } from "../release.ts";
import { canonicalSchematic } from "../schematic-canonical.ts";
import { idOfText } from "../schematic-id.ts";
import type { Schematic } from "../schematic-types.ts";
import { compareVersions, isPrerelease, minorLine } from "../versions.ts";
import { findBootIssues } from "./boot-findings.ts";
import { checkExtensions, migratedNames } from "./extension-checks.ts";
import type { ExtensionCheck, Finding, LeavablePart, UpgradeCheck } from "./upgrade-types.ts";

export interface UpgradeQuestion {
  schematic: Schematic;
  /** What runs now; null when nobody says. */
  from: Release | null;
  to: Release;
  /** Releases whose catalogs are known: they tell since when or until when there is something. */
  known: readonly Release[];
  target: MachineTarget;
  /** Extensions by name, and parts, to leave out where the target lacks them. Everything else here counts for nothing. */
  leaveOut: readonly string[];
}

/** Every minor line between the two by its newest stable release, then the target. */
export function upgradeStops(from: string | null, to: string, offered: readonly string[]): string[] {
  if (from === null || compareVersions(from, to) >= 0) return [to];
  const [first, last] = [minorLine(from), minorLine(to)];
  const newest = new Map<string, string>();
  for (const version of [...offered].sort(compareVersions)) {
    const between = compareVersions(version, from) > 0 && compareVersions(version, to) < 0;
    if (between && !isPrerelease(version)) newest.set(minorLine(version), version);
  }
  return [...[...newest].filter(([minor]) => minor !== first && minor !== last).map(([, stop]) => stop), to];
}

/** The schematic with only what the checks say changed; a part that ends up empty is left out as on creation. */
function migrate(
  { overlay, owner, customization }: Schematic,
  checks: ExtensionCheck[],
  leftOut: LeavablePart[],
): Schematic {
  const { embeddedMachineConfiguration, bootloader, secureboot, systemExtensions, ...rest } = customization;
  const names = migratedNames(checks);
  const keeps = (part: LeavablePart) => !leftOut.includes(part);
  const { enrollKeys, ...otherSecureBoot } = secureboot ?? {};
  const mode = enrollKeys !== undefined && keeps("secureboot.enrollKeys") ? { enrollKeys } : {};
  return {
    ...(owner === undefined ? {} : { owner }),
    ...(overlay === undefined ? {} : { overlay }),
    customization: {
      ...rest,
      ...(embeddedMachineConfiguration !== undefined && keeps("embeddedMachineConfiguration")
        ? { embeddedMachineConfiguration }
        : {}),
      ...(bootloader !== undefined && keeps("bootloader") ? { bootloader } : {}),
      ...(secureboot === undefined ? {} : { secureboot: { ...otherSecureBoot, ...mode } }),
      ...(systemExtensions === undefined ? {} : { systemExtensions: { officialExtensions: names } }),
    },
  };
}

/** The files whose making shows whether a schematic fits: each kind applies other parts of it. */
const PROBES = ["installer", "iso", "image"] as const;

/** What making files of the target would still refuse, in the words of the refusal. */
function refusals(schematic: Schematic, release: Release, target: MachineTarget): string[] {
  const schematicText = canonicalSchematic(schematic);
  const said = PROBES.flatMap((kind) => {
    const disk = kind === "image" ? { disk: diskProfile(target.platform, "raw") } : {};
    const profile: AssetProfile = { kind, outFormat: "raw", ...target, ...disk };
    // Whether the source has installers and the factory has keys is no matter of the schematic.
    const baseInstaller = release.baseInstaller ?? release.imager;
    try {
      resolveRecipe({
        ...{ profile, schematic, schematicText, version: release.version },
        ...{ schematicId: idOfText(schematicText), externalUrl: "", release: { ...release, baseInstaller } },
      });
      return [];
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return [error.message.replace(/^error enhancing profile from schematic: /, "")];
    }
  });
  return [...new Set(said)];
}

/** The whole check. Throws invalid_input for an unknown platform, or more extensions than files are made with. */
export function checkUpgrade(question: UpgradeQuestion): UpgradeCheck {
  const { schematic, from, to, known, target, leaveOut } = question;
  const names = schematic.customization.systemExtensions?.officialExtensions ?? [];
  // Each unknown name is looked for in every known release.
  refuseTooManyExtensions(names);
  const extensions = checkExtensions({ names, from, to, known, leaveOut });
  const issues = findBootIssues({ schematic, from, to, known, target });
  const isLeft = ({ part }: Finding) => part !== null && leaveOut.includes(part);
  const leftOut = issues.flatMap((one) => (isLeft(one) && one.part !== null ? [one.part] : []));
  const open = issues.filter((one) => !isLeft(one));
  const migrated = migrate(schematic, extensions, leftOut);
  const lacking = extensions.some(({ after, action }) => after === null && action === "keep");
  const told = lacking || open.some((one) => one.level === "problem");
  // Asked only when all known reasons are settled: one refusal hides the others behind it.
  const refused = told ? [] : refusals(migrated, to, target);
  const findings = [
    ...open.filter((one) => one.level === "problem"),
    ...refused.map(
      (reason): Finding => ({ level: "problem", code: "refused", values: { reason }, part: null }),
    ),
    ...open.filter((one) => one.level === "note"),
  ];
  const canonical = canonicalSchematic(migrated);
  return {
    ...{ extensions, findings, leftOut },
    migrated: {
      ...{ schematic: migrated, canonical, id: idOfText(canonical) },
      unchanged: canonical === canonicalSchematic(schematic),
    },
    ready: !told && refused.length === 0,
    stops: upgradeStops(
      from?.version ?? null,
      to.version,
      known.map((release) => release.version),
    ),
  };
}
