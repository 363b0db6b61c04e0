/** The version rules: every row of the table at its edges, and the page that shows it. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  baseInstallerRepository,
  type Quirks,
  quirks,
  RULES,
  type RuleId,
} from "../../../lib/domain/quirks.ts";

/** For each rule: versions in order with the value that holds from there on, then the value for an unreadable version. */
const EDGES: { [Id in RuleId]: { at: [version: string, value: Quirks[Id]][]; unknown: Quirks[Id] } } = {
  resetMenuEntry: {
    at: [
      ["1.3.7", false],
      ["1.4.0-alpha.0", true],
      ["1.4.0", true],
      ["1.5.0", true],
    ],
    unknown: true,
  },
  uki: {
    at: [
      ["1.4.8", false],
      ["1.5.0", true],
    ],
    unknown: true,
  },
  multidocConfig: {
    at: [
      ["1.4.8", false],
      ["1.5.0", true],
    ],
    unknown: true,
  },
  compressedMetaEnvironment: {
    at: [
      ["1.6.2", false],
      ["1.6.3", true],
      ["1.7.0-alpha.0", true],
    ],
    unknown: true,
  },
  overlays: {
    at: [
      ["1.6.3", false],
      ["1.7.0-alpha.0", true],
      ["1.7.0", true],
    ],
    unknown: true,
  },
  compression: {
    at: [
      ["1.7.6", "xz"],
      ["1.8.0-alpha.0", "zstd"],
      ["1.8.0", "zstd"],
    ],
    unknown: "zstd",
  },
  isoLabel: {
    at: [
      ["1.7.6", false],
      ["1.8.0", true],
    ],
    unknown: true,
  },
  metalSerialConsole: {
    at: [
      ["1.7.6", true],
      ["1.8.0-alpha.0", false],
      ["1.8.0", false],
    ],
    unknown: false,
  },
  haltIfInstalled: {
    at: [
      ["1.7.6", false],
      ["1.8.0", true],
    ],
    unknown: true,
  },
  skipDataPartitions: {
    at: [
      ["1.7.6", false],
      ["1.8.0", true],
    ],
    unknown: true,
  },
  selinux: {
    at: [
      ["1.9.5", false],
      ["1.10.0", true],
    ],
    unknown: true,
  },
  systemdBootForUefi: {
    at: [
      ["1.9.5", false],
      ["1.10.0", true],
    ],
    unknown: false,
  },
  kernelModulePath: {
    at: [
      ["1.9.5", "/lib/modules"],
      ["1.10.0", "/usr/lib/modules"],
    ],
    unknown: "/usr/lib/modules",
  },
  firmwarePath: {
    at: [
      ["1.9.5", "/lib/firmware"],
      ["1.10.0", "/usr/lib/firmware"],
    ],
    unknown: "/usr/lib/firmware",
  },
  ukiProfiles: {
    at: [
      ["1.9.5", false],
      ["1.10.0", true],
    ],
    unknown: true,
  },
  unifiedInstaller: {
    at: [
      ["1.9.5", false],
      ["1.10.0", true],
    ],
    unknown: true,
  },
  bootSizeMiB: {
    at: [
      ["1.10.4", 1000],
      ["1.11.0-alpha.0", 2000],
      ["1.11.0", 2000],
    ],
    unknown: 2000,
  },
  xfsProfile: {
    at: [
      ["1.7.6", "lts_6.1"],
      ["1.8.0", "lts_6.6"],
      ["1.9.5", "lts_6.6"],
      ["1.10.0", "lts_6.12"],
      ["1.12.4", "lts_6.12"],
      ["1.13.0", "lts_6.18"],
    ],
    unknown: "lts_6.18",
  },
  xfsMinAgSizeGiB: {
    at: [
      ["1.13.9", 0],
      ["1.14.0", 64],
    ],
    unknown: 64,
  },
  ima: {
    at: [
      ["1.9.5", true],
      ["1.10.99", true],
      ["1.11.0-alpha.0", false],
    ],
    unknown: false,
  },
  talosctlDownload: {
    at: [
      ["1.10.4", false],
      ["1.11.0-alpha.0", true],
      ["1.11.0", true],
    ],
    unknown: true,
  },
  embeddedConfig: {
    at: [
      ["1.11.9", false],
      ["1.12.0-alpha.0", true],
      ["1.12.0", true],
    ],
    unknown: true,
  },
  moduleSignatures: {
    at: [
      ["1.11.9", false],
      ["1.12.0", true],
    ],
    unknown: true,
  },
  isoBootloader: {
    at: [
      ["1.11.5", false],
      ["1.12.0", true],
    ],
    unknown: true,
  },
  procMemOverride: {
    at: [
      ["1.12.4", false],
      ["1.13.0", true],
    ],
    unknown: true,
  },
  initOnAlloc: {
    at: [
      ["1.13.9", true],
      ["1.14.0-alpha.1", false],
      ["1.14.0", false],
    ],
    unknown: false,
  },
  nvmeTimeoutEverywhere: {
    at: [
      ["1.13.9", true],
      ["1.14.0-alpha.1", false],
    ],
    unknown: false,
  },
  lockdown: {
    at: [
      ["1.5.0", true],
      ["1.13.9", true],
      ["1.14.0-beta.1", true],
      ["1.14.0-rc.1", true],
      ["1.14.0", false],
    ],
    unknown: false,
  },
};

describe("version rules", () => {
  const ids = Object.keys(RULES) as RuleId[];

  it("has 28 rows, each with a test", () => {
    expect(ids).toHaveLength(28);
    expect(Object.keys(EDGES).sort()).toEqual([...ids].sort());
  });

  it.each(ids)("%s", (id) => {
    const { at, unknown } = EDGES[id];
    for (const [version, value] of at) expect(quirks(`v${version}`)[id], version).toBe(value);
    expect(quirks("1.99.0")[id]).toBe(at.at(-1)?.[1]);
    expect(quirks("not a version")[id]).toBe(unknown);
  });

  it("G65 overlays from 1.7 pre-releases, compressed META from 1.6.3, reset entry from 1.4, no init_on_alloc in 1.14", () => {
    expect([quirks("1.7.0-alpha.0").overlays, quirks("1.6.3").overlays]).toEqual([true, false]);
    expect([quirks("1.6.2"), quirks("1.6.3")].map((rules) => rules.compressedMetaEnvironment)).toEqual([
      false,
      true,
    ]);
    expect([quirks("1.3.7"), quirks("1.5.0")].map((rules) => rules.resetMenuEntry)).toEqual([false, true]);
    expect(quirks("1.14.0-alpha.1").initOnAlloc).toBe(false);
  });

  it("G66 builds installers on installer-base from 1.10", () => {
    expect(baseInstallerRepository("1.9.5")).toBe("siderolabs/installer");
    expect(baseInstallerRepository("1.10.0")).toBe("siderolabs/installer-base");
  });

  it("G104 picks the XFS profile", () => {
    const profiles = ["1.7.6", "1.9.5", "1.12.4", "1.13.0"].map((version) => quirks(version).xfsProfile);
    expect(profiles).toEqual(["lts_6.1", "lts_6.6", "lts_6.12", "lts_6.18"]);
  });

  it("reads versions leniently and cannot be changed by a caller", () => {
    expect(quirks(" 1.10 ")).toEqual(quirks("v1.10.0"));
    expect(Object.isFrozen(quirks("v1.10.0"))).toBe(true);
  });
});

/** The rows that docs/versions.md must show. */
function documentedRows(): string[] {
  return (Object.keys(RULES) as RuleId[]).map((id) => {
    const rule = RULES[id];
    const values = [`${rule.base}`, ...rule.steps.map(({ since, value }) => `${value} from ${since}`)].join(
      ", ",
    );
    return `| \`${id}\` | ${values} | ${rule.unknown} | ${rule.effect} |`;
  });
}

describe("docs/versions.md", () => {
  it("shows the table as it is in the code", () => {
    const page = readFileSync(new URL("../../../docs/versions.md", import.meta.url), "utf8");
    const rows = page.split("\n").filter((line) => line.startsWith("| `"));
    expect(rows).toEqual(documentedRows());
  });
});
