/** The upgrade check: what becomes of extensions, boards, boot parts and arguments, and the schematic that fits. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ARCHES } from "../../../lib/domain/asset.ts";
import { parseAssetPath } from "../../../lib/domain/asset-path.ts";
import { resolveRecipe } from "../../../lib/domain/recipe.ts";
import { canonicalSchematic } from "../../../lib/domain/schematic-canonical.ts";
import { parseSchematic } from "../../../lib/domain/schematic-parse.ts";
import type { Schematic } from "../../../lib/domain/schematic-types.ts";
import {
  checkUpgrade,
  type UpgradeQuestion,
  upgradeStops,
} from "../../../lib/domain/upgrade/upgrade-check.ts";
import { LEAVABLE_PARTS } from "../../../lib/domain/upgrade/upgrade-types.ts";
import { arbitrarySchematic, HISTORY, releaseOf, releaseWith } from "../../fixtures/catalogs.ts";

const METAL = { platform: "metal", arch: "amd64", secureboot: false } as const;

const check = (text: string, from: string | null, to: string, changes: Partial<UpgradeQuestion> = {}) =>
  checkUpgrade({
    schematic: parseSchematic(text),
    from: from === null ? null : releaseOf(from),
    to: releaseOf(to),
    ...{ known: HISTORY, target: METAL, leaveOut: [], ...changes },
  });

const withExtensions = (...names: string[]) =>
  `customization: {systemExtensions: {officialExtensions: [${names.map((name) => `siderolabs/${name}`).join(", ")}]}}`;

const codes = (result: ReturnType<typeof check>) => result.findings.map((one) => `${one.level} ${one.code}`);

describe("extensions", () => {
  it("tells present, renamed, newer, gone and unknown apart and names the release that has it", () => {
    const text = withExtensions("gvisor", "i915-ucode", "zfs", "v4l-uvc", "never");
    const { extensions } = check(text, "v1.9.5", "v1.10.7");
    expect(extensions.map(({ name, state, version }) => [name.slice(11), state, version])).toEqual([
      ["gvisor", "present", null],
      ["i915-ucode", "renamed", null],
      ["zfs", "newer", "v1.12.4"],
      ["v4l-uvc", "gone", "v1.9.5"],
      ["never", "unknown", null],
    ]);
    expect(extensions[0]).toMatchObject({ before: { version: "1" }, after: { version: "2" } });
    expect(extensions[1]).toMatchObject({
      before: { name: "siderolabs/i915-ucode", version: "2" },
      after: { name: "siderolabs/i915", version: "3" },
    });
  });

  it("renames in place, keeps the order, and leaves the rest of the schematic alone", () => {
    const text = `customization: {extraKernelArgs: [b, a, b], meta: [{key: 10, value: x}], systemExtensions: {officialExtensions: [siderolabs/gvisor, siderolabs/i915-ucode, siderolabs/gvisor]}}`;
    const { migrated, ready } = check(text, "v1.9.5", "v1.12.4");
    expect(ready).toBe(true);
    expect(migrated.canonical).toBe(canonicalSchematic(parseSchematic(text.replace("i915-ucode", "i915"))));
    expect(migrated.unchanged).toBe(false);
  });

  it("merges an old name into the new one that is written too", () => {
    const { extensions, migrated } = check(withExtensions("i915-ucode", "i915"), null, "v1.12.4");
    expect(extensions.map((one) => one.action)).toEqual(["merge", "keep"]);
    expect(migrated.schematic.customization.systemExtensions?.officialExtensions).toEqual([
      "siderolabs/i915",
    ]);
  });

  it("leaves out only what the target lacks, however much is asked to be left out", () => {
    const text = withExtensions("gvisor", "old-one");
    expect(check(text, "v1.6.8", "v1.13.2").ready).toBe(false);
    const leaveOut = ["siderolabs/gvisor", "siderolabs/old-one", "bootloader"];
    const result = check(text, "v1.6.8", "v1.13.2", { leaveOut });
    expect(result.ready).toBe(true);
    expect(result.migrated.schematic).toEqual(parseSchematic(withExtensions("gvisor")));
  });

  it("refuses more than files are made with before it looks into any catalog", () => {
    let looks = 0;
    const known = HISTORY.map((release) => ({
      ...release,
      get extensions() {
        looks += 1;
        return release.extensions;
      },
    }));
    const names = (count: number) => withExtensions(...Array.from({ length: count }, (_, i) => `x${i}`));
    expect(() => check(names(45_000), "v1.9.5", "v1.12.4", { known })).toThrow(
      "the schematic lists 45000 system extensions, files are made with at most 200",
    );
    expect(looks).toBe(0);
    expect(check(names(200), "v1.9.5", "v1.12.4", { known }).extensions).toHaveLength(200);
  });

  it("is unchanged with the same ID when there is nothing to do", () => {
    const text = withExtensions("gvisor");
    const { migrated } = check(text, "v1.9.5", "v1.13.2");
    expect(migrated.unchanged).toBe(true);
    expect(migrated.canonical).toBe(canonicalSchematic(parseSchematic(text)));
  });
});

describe("boards and boot parts", () => {
  const board = (name: string) =>
    `{overlay: {image: siderolabs/sbc-raspberrypi, name: ${name}}, customization: {}}`;
  const arm = { target: { ...METAL, arch: "arm64" as const } };

  it.each([
    ["v1.6.8", "rpi_generic", "problem overlay-since", { overlay: "rpi_generic", since: "v1.7.0" }],
    ["v1.10.7", "rpi_5", "problem overlay-newer", { overlay: "rpi_5", version: "v1.12.4" }],
    ["v1.10.7", "nothing", "problem overlay-unknown", { overlay: "nothing" }],
  ])("%s and the board %s: %s", (to, name, code, values) => {
    const result = check(board(name), null, to, arm);
    expect(codes(result)).toContain(code);
    expect(result.findings[0]?.values).toEqual(values);
    expect(result.ready).toBe(false);
  });

  it("says until when a board was there", () => {
    const known = [...HISTORY, releaseWith("v1.14.0", [], [])];
    const to = known.at(-1) ?? releaseOf("v1.13.2");
    const result = check(board("rpi_5"), null, "v1.13.2", { ...arm, known, to });
    expect(result.findings[0]).toMatchObject({ code: "overlay-gone", values: { version: "v1.13.2" } });
  });

  it("offers to leave out a configuration that cannot be embedded", () => {
    const text = 'customization: {embeddedMachineConfiguration: "kind: A"}';
    const before = check(text, "v1.12.4", "v1.10.7");
    expect(before.findings[0]).toMatchObject({
      code: "embedded-since",
      values: { since: "v1.12.0" },
      part: "embeddedMachineConfiguration",
    });
    const after = check(text, "v1.12.4", "v1.10.7", { leaveOut: ["embeddedMachineConfiguration"] });
    expect(after).toMatchObject({ ready: true, leftOut: ["embeddedMachineConfiguration"] });
    expect(after.migrated.schematic).toEqual({ customization: {} });
    expect(codes(after)).toEqual(["note downgrade"]);
  });

  it("tells of boot loaders that change by themselves and of choices that begin to count", () => {
    expect(check("{}", "v1.9.5", "v1.10.7").findings[0]).toMatchObject({
      code: "bootloader-default",
      values: { before: "grub", after: "dual-boot" },
    });
    expect(codes(check("customization: {bootloader: grub}", "v1.10.7", "v1.12.4"))).toEqual([
      "note bootloader-iso",
    ]);
    expect(codes(check("customization: {bootloader: dual-boot}", null, "v1.12.4", arm))).toEqual([
      "problem bootloader-arch",
    ]);
    const secure = { target: { ...METAL, secureboot: true } };
    expect(codes(check("customization: {bootloader: grub}", null, "v1.12.4", secure))).toEqual([
      "note bootloader-secureboot",
    ]);
    const mode = "customization: {secureboot: {enrollKeys: banana}}";
    expect(codes(check(mode, null, "v1.12.4", secure))).toEqual(["problem enroll-keys"]);
    expect(codes(check(mode, null, "v1.12.4"))).toEqual([]);
  });

  it("tells of arguments that became defaults, remove nothing any more, or now travel with the installer", () => {
    const text = 'customization: {extraKernelArgs: [selinux=1, "-ima_hash", x=1]}';
    const result = check(text, "v1.9.5", "v1.12.4");
    expect(result.findings.map(({ code, values }) => [code, values.argument ?? ""])).toEqual([
      ["bootloader-default", ""],
      ["arguments-installer", ""],
      ["argument-default", "selinux=1"],
      ["argument-idle", "-ima_hash"],
    ]);
    expect(codes(check(text, "v1.12.4", "v1.9.5"))).toContain("note arguments-installer-lost");
  });

  it("asks the recipe for what no rule names", () => {
    const result = check("customization: {diskImage: {sectorSize: 7}}", null, "v1.13.2");
    expect(result.findings[0]).toMatchObject({
      code: "refused",
      values: { reason: "diskImage.sectorSize 7 is not supported" },
    });
  });
});

describe("stops", () => {
  const offered = [
    "v1.9.1",
    "v1.9.5",
    "v1.10.0",
    "v1.10.7",
    "v1.12.4",
    "v1.13.0",
    "v1.13.2",
    "v1.14.0-beta.1",
  ];
  it.each([
    ["v1.9.1", "v1.13.0", ["v1.10.7", "v1.12.4", "v1.13.0"]],
    ["v1.12.4", "v1.13.2", ["v1.13.2"]],
    ["v1.12.4", "v1.14.0-beta.1", ["v1.13.2", "v1.14.0-beta.1"]],
    ["v1.13.2", "v1.9.1", ["v1.9.1"]],
    [null, "v1.9.1", ["v1.9.1"]],
  ])("from %s to %s", (from, to, stops) => {
    expect(upgradeStops(from, to, offered)).toEqual(stops);
  });
});

describe("any schematic", () => {
  const versions = fc.constantFrom(...HISTORY);
  const question = fc.record({
    schematic: arbitrarySchematic,
    from: fc.option(versions),
    to: versions,
    target: fc.record({
      platform: fc.constantFrom("metal", "nocloud"),
      arch: fc.constantFrom(...ARCHES),
      secureboot: fc.boolean(),
    }),
    leaveOut: fc.subarray<string>([
      ...LEAVABLE_PARTS,
      "siderolabs/zfs",
      "siderolabs/old-one",
      "siderolabs/gvisor",
    ]),
    known: fc.constant(HISTORY),
  });
  const lacking = (schematic: Schematic) =>
    schematic.customization.systemExtensions?.officialExtensions ?? [];

  it("can be built after migration when nothing is said against it, and has a reason when it cannot", () => {
    fc.assert(
      fc.property(question, (asked) => {
        const { ready, migrated, findings, extensions } = checkUpgrade(asked);
        const { platform, arch, secureboot } = asked.target;
        const name = `${platform}-${arch}${secureboot ? "-secureboot" : ""}`;
        const build = () => {
          for (const path of [`${name}.iso`, `${name}.raw`]) {
            resolveRecipe({
              ...{ profile: parseAssetPath(path), version: asked.to.version, release: asked.to },
              ...{ schematic: migrated.schematic, schematicText: migrated.canonical, externalUrl: "" },
              schematicId: migrated.id,
            });
          }
        };
        if (ready) expect(build).not.toThrow();
        else {
          const open = extensions.filter(({ after, action }) => after === null && action === "keep");
          expect(open.length + findings.filter((one) => one.level === "problem").length).toBeGreaterThan(0);
        }
      }),
      { numRuns: 400 },
    );
  });

  it("stays as it is when it is migrated again", () => {
    fc.assert(
      fc.property(question, (asked) => {
        const once = checkUpgrade(asked);
        const twice = checkUpgrade({ ...asked, schematic: once.migrated.schematic });
        expect(twice.migrated.canonical).toBe(once.migrated.canonical);
        expect(twice.ready).toBe(once.ready);
        expect(twice.extensions.every((one) => one.action !== "rename" && one.action !== "merge")).toBe(true);
      }),
    );
  });

  it("fits once everything that may be left out is left out, unless a reason stays that cannot be left out", () => {
    fc.assert(
      fc.property(question, (asked) => {
        const leaveOut = [...LEAVABLE_PARTS, ...lacking(asked.schematic)];
        const { ready, findings, extensions } = checkUpgrade({ ...asked, leaveOut });
        expect(extensions.every(({ after, action }) => after !== null || action === "leave-out")).toBe(true);
        const stuck = findings.filter((one) => one.level === "problem");
        expect(stuck.every((one) => one.part === null)).toBe(true);
        expect(ready).toBe(stuck.length === 0);
      }),
    );
  });
});
