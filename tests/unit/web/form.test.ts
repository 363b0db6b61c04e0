/** The form's rules: its query, its schematic, its problems and the files it leads to. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assetFileName, parseAssetPath } from "../../../lib/domain/asset-path.ts";
import { BOARDS } from "../../../lib/domain/boards.ts";
import { downloadsFor } from "../../../lib/domain/form/downloads.ts";
import { readForm, writeForm } from "../../../lib/domain/form/form-address.ts";
import { formProblems } from "../../../lib/domain/form/form-problems.ts";
import { formSchematic } from "../../../lib/domain/form/form-schematic.ts";
import {
  BOOTLOADER_CHOICES,
  ENROLL_CHOICES,
  type FormState,
  initialForm,
  SECTOR_CHOICES,
  settleForm,
  TARGETS,
} from "../../../lib/domain/form/form-state.ts";
import { previewForm } from "../../../lib/domain/form/preview.ts";
import { PLATFORMS } from "../../../lib/domain/platforms.ts";
import { catalogExtension } from "../../fixtures/releases.ts";

const VERSIONS = ["1.14.0-beta.1", "1.13.2", "1.12.4", "1.9.5"];

const forms: fc.Arbitrary<FormState> = fc.record({
  target: fc.constantFrom(...TARGETS),
  version: fc.constantFrom(...VERSIONS),
  arch: fc.constantFrom("amd64", "arm64"),
  platform: fc.constantFrom(...PLATFORMS.map((platform) => platform.name), "nowhere"),
  board: fc.constantFrom(...BOARDS.map((board) => board.name), "other", "toaster"),
  overlayName: fc.constantFrom("", "rpi_generic", "éclair 9"),
  overlayImage: fc.constantFrom("", "siderolabs/sbc-raspberrypi"),
  secureboot: fc.boolean(),
  enrollKeys: fc.constantFrom(...ENROLL_CHOICES, "perhaps"),
  wellKnownCertificates: fc.boolean(),
  extensions: fc.array(fc.constantFrom("siderolabs/b", "siderolabs/a", "siderolabs/zz"), { maxLength: 4 }),
  cmdline: fc.string({ unit: "grapheme", maxLength: 40 }),
  sectorSize: fc.constantFrom(...SECTOR_CHOICES, "777"),
  meta: fc.array(
    fc.record({
      key: fc.constantFrom("0xa", "12", "nonsense"),
      value: fc.string({ unit: fc.constantFrom(..."a=; \né"), maxLength: 8 }),
    }),
    { maxLength: 3 },
  ),
  bootloader: fc.constantFrom(...BOOTLOADER_CHOICES),
  overlayOptions: fc.constantFrom("", "a: 1", "a: [", "x: {y: true}\nz: 'é'"),
  embeddedConfig: fc.constant(""),
});

describe("form and address", () => {
  it("come back from the query as they went in", () => {
    fc.assert(
      fc.property(forms, (drawn) => {
        const form = settleForm(drawn);
        const query = new URLSearchParams(writeForm(form).toString());
        expect(settleForm(readForm(query, "1.0.0"))).toEqual(form);
      }),
    );
  });

  it("never put the embedded configuration into the query", () => {
    const form = { ...initialForm("1.13.2"), embeddedConfig: "token: hush" };
    expect(writeForm(form).toString()).not.toContain("hush");
  });

  it("read what links of other image factories say", () => {
    const text =
      "arch=arm64&board=rpi_generic&bootloader=auto&cmdline-set=true&extensions=-&extensions=siderolabs/x&platform=metal&target=sbc&version=v1.12.4";
    expect(readForm(new URLSearchParams(text), "1.13.2")).toMatchObject({
      ...{ target: "sbc", version: "1.12.4", arch: "arm64", board: "rpi_generic", secureboot: false },
      extensions: ["siderolabs/x"],
    });
  });

  it("fall back to defaults for words they do not know", () => {
    expect(readForm(new URLSearchParams("target=toaster&arch=z80&bootloader=lilo"), "1.13.2")).toEqual(
      initialForm("1.13.2"),
    );
  });
});

describe("form and schematic", () => {
  it("give the known ID for one extension", () => {
    const form = { ...initialForm("1.13.2"), extensions: ["siderolabs/qemu-guest-agent"] };
    expect(previewForm(form).id).toBe("ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515");
  });

  it("store the embedded configuration with plain line ends", () => {
    const form = { ...initialForm("1.13.2"), embeddedConfig: "a: 1\r\nb: 2\r\n" };
    expect(formSchematic(form).customization.embeddedMachineConfiguration).toBe("a: 1\nb: 2\n");
  });
});

describe("problems", () => {
  const offer = {
    versions: VERSIONS,
    extensions: [catalogExtension("siderolabs/a")],
    firstWith: new Map([["siderolabs/new", "1.14.0"]]),
  };
  const problemsOf = (change: Partial<FormState>) =>
    formProblems({ ...initialForm("1.13.2"), ...change }, offer).map(({ field, kind }) => `${field} ${kind}`);

  it("are none for the untouched form", () => {
    expect(problemsOf({})).toEqual([]);
  });

  it.each<[string, Partial<FormState>, string[]]>([
    ["a version that is not offered", { version: "1.2.3" }, ["version unknown"]],
    ["an extension the release lacks", { extensions: ["siderolabs/nope"] }, ["extensions unknown"]],
    ["an overlay without a name", { target: "sbc", board: "other" }, ["board unknown"]],
    [
      "an overlay before there were any",
      { target: "sbc", board: "other", overlayName: "own", version: "1.6.1" },
      ["board lack", "version unknown"],
    ],
    ["a way of enrolling nobody knows", { secureboot: true, enrollKeys: "perhaps" }, ["enroll-keys unknown"]],
    ["sectors no disk has", { sectorSize: "777" }, ["sector-size unknown"]],
    ["a META key that is none", { meta: [{ key: "0x100", value: "" }] }, ["meta meta"]],
    ["an unknown platform", { target: "cloud", platform: "nowhere" }, ["platform unknown"]],
    ["a platform that came later", { target: "cloud", platform: "alibabacloud" }, ["platform lack"]],
    ["an unknown board", { target: "sbc", board: "rpi5" }, ["board unknown"]],
    ["a board that came later", { target: "sbc", board: "rpi_5", version: "1.9.5" }, ["board lack"]],
    ["options that are no YAML", { target: "sbc", overlayOptions: "a: [" }, ["overlay-options yaml"]],
    ["options that are a list", { target: "sbc", overlayOptions: "- a" }, ["overlay-options yaml"]],
    [
      "SecureBoot where the platform has none",
      { target: "cloud", platform: "aws", secureboot: true },
      ["secureboot lack"],
    ],
    ["GRUB with SecureBoot", { secureboot: true, bootloader: "grub" }, ["bootloader lack"]],
    ["two boot loaders on arm64", { arch: "arm64", bootloader: "dual-boot" }, ["bootloader lack"]],
    [
      "a configuration before 1.12",
      { version: "1.9.5", embeddedConfig: "machine: {}" },
      ["embedded-config lack"],
    ],
    ["a configuration that is no YAML", { embeddedConfig: "a: 1\n---\nb: [" }, ["embedded-config yaml"]],
    ["a configuration of no kind", { embeddedConfig: "a: 1" }, ["embedded-config document"]],
  ])("name the field of %s", (_what, change, expected) => {
    expect(problemsOf(change)).toEqual(expected);
  });

  it("say from when on there is an extension, where some release has it", () => {
    const form = { ...initialForm("1.13.2"), extensions: ["siderolabs/new", "siderolabs/nope"] };
    expect(formProblems(form, offer)).toMatchObject([{ since: "1.14.0" }, { since: null }]);
  });

  it("do not mind enrolment that nothing is signed with", () => {
    expect(problemsOf({ enrollKeys: "perhaps" })).toEqual([]);
  });
});

describe("downloads", () => {
  const target = { arch: "amd64", secureboot: false, board: false, version: "1.13.2" } as const;
  const firstOf = (change: object) =>
    downloadsFor({ ...target, platform: "metal", ...change }).first.map((file) => file.path);

  it("begin with what the machine boots from", () => {
    expect(firstOf({})).toEqual(["metal-amd64.iso", "metal-amd64.raw.zst", "metal-amd64.qcow2"]);
    expect(firstOf({ secureboot: true })).toEqual([
      "metal-amd64-secureboot.iso",
      "metal-amd64-secureboot.raw.zst",
    ]);
    expect(firstOf({ platform: "nocloud" })).toEqual(["nocloud-amd64.raw.xz", "nocloud-amd64.iso"]);
    expect(firstOf({ board: true, arch: "arm64" })).toEqual(["metal-arm64.raw.xz"]);
    expect(firstOf({ platform: "equinixMetal" })).toEqual([]);
  });

  it("are named as the files are, for every platform and architecture", () => {
    for (const platform of PLATFORMS) {
      for (const arch of platform.architectures) {
        for (const secureboot of [false, true]) {
          const { first, others } = downloadsFor({ ...target, platform: platform.name, arch, secureboot });
          const paths = [...first, ...others].map((file) => file.path);
          expect(new Set(paths).size).toBe(paths.length);
          for (const path of paths) expect(assetFileName(parseAssetPath(path))).toBe(path);
        }
      }
    }
  });

  it("offer network boot only where the platform does", () => {
    expect(downloadsFor({ ...target, platform: "metal" }).pxe).toBe("metal-amd64");
    expect(downloadsFor({ ...target, platform: "aws" }).pxe).toBeNull();
    expect(downloadsFor({ ...target, platform: "metal", board: true, arch: "arm64" }).pxe).toBeNull();
  });
});
