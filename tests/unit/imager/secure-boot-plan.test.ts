import { describe, expect, it } from "vitest";
import type { Recipe, SigningIdentity } from "../../../lib/domain/recipe-types.ts";
import { planAsset } from "../../../lib/imager/plan.ts";
import type { BuildPlan } from "../../../lib/imager/types.ts";
import { recipeFor } from "../../fixtures/recipes.ts";

const SIGNING: SigningIdentity = { certificate: "c".repeat(64), pcrKey: "d".repeat(64), databases: null };
const planOf = (path: string, schematic = "customization: {}\n", signing = SIGNING): BuildPlan =>
  planAsset(recipeFor(path, "v1.13.0", schematic, { signing }));
const ids = (plan: BuildPlan): string[] => plan.steps.map(({ id }) => id);
const step = (plan: BuildPlan, id: string) => plan.steps.find((one) => one.id === id);
const secureboot = (text: string) => `customization:\n  secureboot:\n    ${text}\n`;

describe("keys of the content", () => {
  const paths = [
    "metal-amd64-secureboot-uki.efi",
    "metal-amd64-secureboot.iso",
    "metal-amd64-secureboot.raw.zst",
  ];

  it.each(paths)("of %s change with the certificate and with the PCR key", (path) => {
    const keys = [
      planOf(path).key,
      planOf(path, undefined, { ...SIGNING, certificate: "e".repeat(64) }).key,
      planOf(path, undefined, { ...SIGNING, pcrKey: "e".repeat(64) }).key,
    ];
    expect(new Set(keys).size).toBe(3);
  });

  it("of the UKI do not change with ready-made databases, which are not in it; those of the ISO do", () => {
    const ready = { ...SIGNING, databases: "f".repeat(64) };
    const [uki = "", iso = ""] = paths;
    expect(planOf(uki, undefined, ready).key).toBe(planOf(uki).key);
    expect(planOf(iso, undefined, ready).key).not.toBe(planOf(iso).key);
  });

  it("of unsigned files do not change with the keys of the factory", () => {
    const other = { ...SIGNING, certificate: "e".repeat(64) };
    expect(planOf("metal-amd64.iso", undefined, other).key).toBe(planOf("metal-amd64.iso").key);
    expect(planOf("cmdline-metal-amd64-secureboot", undefined, other).key).toBe(
      planOf("cmdline-metal-amd64-secureboot").key,
    );
  });

  it("hold no path and no secret", () => {
    const recipe: Recipe = recipeFor("metal-amd64-secureboot.iso", "v1.13.0", undefined, {
      signing: SIGNING,
    });
    expect(Object.keys(recipe.signing ?? {})).toEqual(["certificate", "pcrKey", "databases"]);
  });
});

describe("steps", () => {
  it("sign systemd-boot and the UKI of an ISO, and write what firmware enrolls", () => {
    const plan = planOf("metal-amd64-secureboot.iso");
    expect(ids(plan)).toEqual(expect.arrayContaining(["signed-sd-boot", "uki", "enrollment", "iso"]));
    expect(step(plan, "iso")?.needs).toEqual(["signed-sd-boot", "uki", "enrollment"]);
    expect(ids(plan).filter((id) => id.includes("grub"))).toEqual([]);
  });

  it("put the keys into an ISO even when nothing is to be enrolled, but not into a disk", () => {
    const off = secureboot('enrollKeys: "off"');
    expect(ids(planOf("metal-amd64-secureboot.iso", off))).toContain("enrollment");
    expect(step(planOf("metal-amd64-secureboot.iso", off), "iso")?.params.enroll).toBe("off");
    const disk = planOf("metal-amd64-secureboot.raw.zst", off);
    expect(ids(disk)).not.toContain("enrollment");
    expect(JSON.stringify(step(disk, "esp")?.params)).not.toContain("secure-boot-enroll");
  });

  it("measure kernel and initramfs apart, so that another command line reads neither again", () => {
    const [a, b] = [
      planOf("metal-amd64-secureboot-uki.efi"),
      planOf("metal-amd64-secureboot-uki.efi", "customization:\n  extraKernelArgs: [a=b]\n"),
    ];
    expect(step(a, "digests-kernel")?.key).toBe(step(b, "digests-kernel")?.key);
    expect(step(a, "uki")?.key).not.toBe(step(b, "uki")?.key);
  });

  it("add well-known certificates on request, unless the databases are ready-made", () => {
    const wanted = secureboot("includeWellKnownCertificates: true");
    const path = "metal-amd64-secureboot.iso";
    expect(step(planOf(path), "enrollment")?.params.wellKnown).toBe(false);
    expect(step(planOf(path, wanted), "enrollment")?.params.wellKnown).toBe(true);
    const ready = { ...SIGNING, databases: "f".repeat(64) };
    expect(step(planOf(path, wanted, ready), "enrollment")?.params.wellKnown).toBe(false);
  });
});

describe("without keys", () => {
  it("SecureBoot is refused in the words clients know", () => {
    expect(() =>
      recipeFor("metal-amd64-secureboot.iso", "v1.13.0", undefined, { secureBootEnabled: false }),
    ).toThrow("error enhancing profile from schematic: secure boot is disabled");
  });
});
