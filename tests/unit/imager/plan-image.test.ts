/** What the plan of a disk image says before anything is built. */
import { describe, expect, it } from "vitest";
import type { DiskProfile, OutFormat } from "../../../lib/domain/asset.ts";
import type { Recipe } from "../../../lib/domain/recipe-types.ts";
import type { BuildPlan, PlanStep } from "../../../lib/imager/types.ts";
import { diskPlan, diskRecipe } from "../../fixtures/imager-disk-fixture.ts";

function step(plan: BuildPlan, op: string): PlanStep {
  const found = plan.steps.find((candidate) => candidate.op === op);
  if (found === undefined) throw new Error(`the plan has no step ${op}`);
  return found;
}

const ops = (plan: BuildPlan): string[] => plan.steps.map(({ op }) => op);

function recipe(profile: Partial<Recipe["profile"]>, rest: Partial<Recipe> = {}): Recipe {
  const base = diskRecipe(rest);
  return { ...base, profile: { ...base.profile, ...profile } };
}

const inFormat = (outFormat: OutFormat, format: DiskProfile["format"] = "raw"): Recipe =>
  recipe({ outFormat, disk: { format, sizeBytes: 0, formatOptions: "" } });

describe("META in the plan", () => {
  it("G59 a dual-boot disk says so, all others are zero unless values are given", () => {
    expect(step(diskPlan(diskRecipe()), "disk-image").params.meta).toEqual([{ tag: 17, value: "dual-boot" }]);
    const arm64 = recipe({ arch: "arm64" }, { bootloader: "sd-boot" });
    expect(step(diskPlan(arm64), "disk-image").params.meta).toBeNull();
    const old = diskRecipe({ version: "v1.9.5", bootloader: "grub" });
    expect(step(diskPlan(old), "disk-image").params.meta).toBeNull();
    const given = diskRecipe({ bootloader: "sd-boot", meta: [{ key: 10, value: "foo" }] });
    expect(step(diskPlan(given), "disk-image").params.meta).toEqual([{ tag: 10, value: "foo" }]);
  });
});

describe("steps of a disk image", () => {
  it("dual-boot has both boot loaders, sd-boot has no BOOT partition and no GRUB", () => {
    const both = ops(diskPlan(diskRecipe()));
    expect(both).toEqual(
      expect.arrayContaining(["uki", "disk-esp", "boot-image", "grub-core", "disk-image"]),
    );
    const one = ops(diskPlan(diskRecipe({ bootloader: "sd-boot" })));
    expect(one).not.toContain("boot-image");
    expect(one).not.toContain("grub-core");
  });

  it("a grub disk holds GRUB's EFI program and no UKI", () => {
    const plan = diskPlan(diskRecipe({ version: "v1.9.5", bootloader: "grub" }));
    expect(ops(plan)).not.toContain("uki");
    expect(step(plan, "disk-esp").params.files).toEqual([{ path: "EFI/boot/BOOTX64.efi", need: 0 }]);
  });

  it("another schematic keeps the packed kernel and stock initramfs and changes the disk", () => {
    const packedKeys = (plan: BuildPlan) =>
      plan.steps.filter(({ op, part }) => op === "packed-part" && part).map(({ key }) => key);
    const plain = diskPlan(inFormat(".xz"));
    const other = diskPlan({ ...inFormat(".xz"), extraKernelArgs: ["foo=bar"], schematicId: "b".repeat(64) });
    expect(packedKeys(plain)).toHaveLength(2);
    expect(packedKeys(other)).toEqual(packedKeys(plain));
    expect(other.key).not.toBe(plain.key);
  });

  it("a .tar.gz shares its parts with .gz", () => {
    const packedKeys = (format: OutFormat) =>
      diskPlan(inFormat(format))
        .steps.filter(({ op, part }) => op === "packed-part" && part)
        .map(({ key }) => key);
    expect(packedKeys(".tar.gz")).toEqual(packedKeys(".gz"));
    expect(packedKeys(".gz")).not.toEqual(packedKeys(".zst"));
  });

  it("vhd adds a footer to the disk and qcow2 converts it", () => {
    expect(step(diskPlan(inFormat("raw", "vhd")), "disk-image").params.footer).toBe("vhd");
    expect(ops(diskPlan(inFormat("raw", "qcow2"))).at(-1)).toBe("qcow2");
    expect(ops(diskPlan(inFormat("raw", "ova"))).at(-1)).toBe("ova");
    const azure = { format: "qcow2", sizeBytes: 0, formatOptions: "subformat=fixed,force_size" } as const;
    expect(diskPlan(recipe({ disk: azure })).steps.at(-1)?.params).toEqual({ options: "" });
    expect(ops(diskPlan(inFormat(".xz", "ova"))).slice(-2)).toEqual(["ova", "packed"]);
  });
});
