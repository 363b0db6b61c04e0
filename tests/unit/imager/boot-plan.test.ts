import { describe, expect, it } from "vitest";
import { isoVariant } from "../../../lib/imager/plan/iso.ts";
import { planAsset, redactPlan } from "../../../lib/imager/plan.ts";
import { bootRecipe, extensions } from "../../fixtures/imager-boot-fixture.ts";

const withSchematic = { schematicId: "b".repeat(64), schematicText: "customization: {a: b}\n" };
const params = (plan: ReturnType<typeof planAsset>, id: string) =>
  plan.steps.find((step) => step.id === id)?.params ?? {};

describe("asset keys", () => {
  it("gives two schematics the same kernel and the same command line", () => {
    for (const kind of ["kernel", "cmdline"] as const) {
      expect(planAsset(bootRecipe(kind, withSchematic)).key).toBe(planAsset(bootRecipe(kind)).key);
    }
  });

  it("gives two schematics different initramfs, because the bytes name the schematic", () => {
    expect(planAsset(bootRecipe("initramfs", withSchematic)).key).not.toBe(
      planAsset(bootRecipe("initramfs")).key,
    );
  });

  it("keeps the keys of extension parts when only arguments change", () => {
    const recipe = bootRecipe("iso", { extensions: extensions("drbd", "i915") });
    const other = planAsset({ ...recipe, ...withSchematic, extraKernelArgs: ["nosmt"] });
    const keys = (plan: typeof other) =>
      plan.steps
        .filter(({ op }) => ["extension", "module-index", "grub-iso"].includes(op))
        .map(({ key }) => key);
    expect(keys(other)).toEqual(keys(planAsset(recipe)));
    expect(keys(other)).toHaveLength(4);
    expect(other.key).not.toBe(planAsset(recipe).key);
  });

  it("does not look at the external address where it does not reach the bytes", () => {
    const elsewhere = { externalUrl: "https://factory.example" };
    expect(planAsset(bootRecipe("kernel", elsewhere)).key).toBe(planAsset(bootRecipe("kernel")).key);
  });

  it("is the same for equal recipes, down to the text of the plan", () => {
    expect(JSON.stringify(planAsset(bootRecipe("iso")))).toBe(JSON.stringify(planAsset(bootRecipe("iso"))));
  });

  it("lists steps after what they need and nothing that is not needed", () => {
    const plan = planAsset(bootRecipe("iso", { bootloader: "sd-boot" }));
    const seen = new Set(plan.inputs.map(({ id }) => id));
    for (const step of plan.steps) {
      for (const need of step.needs) expect(seen, `${step.id} needs ${need}`).toContain(need);
      seen.add(step.id);
    }
    expect(plan.steps.map(({ id }) => id)).not.toContain("grub-iso");
    expect(plan.steps.at(-1)?.key).toBe(plan.key);
  });
});

describe("what is refused", () => {
  const secure = (kind: "iso" | "uki") => ({
    ...bootRecipe(kind),
    profile: { ...bootRecipe(kind).profile, secureboot: true },
  });

  it("answers invalid_input for SecureBoot where there are no keys", () => {
    for (const kind of ["iso", "uki"] as const) {
      expect(() => planAsset(secure(kind))).toThrow("secure boot is disabled");
      expect(() => planAsset(secure(kind))).toThrow(expect.objectContaining({ code: "invalid_input" }));
    }
  });

  it("plans the command line and the kernel with SecureBoot or an overlay, whose bytes do not depend on them", () => {
    const overlay = { entry: { name: "rpi_generic", image: "x", ref: "x", digest: "sha256:0" }, options: {} };
    expect(planAsset(bootRecipe("kernel", { overlay })).key).toBe(planAsset(bootRecipe("kernel")).key);
    const cmdline = bootRecipe("cmdline");
    const plan = planAsset({ ...cmdline, profile: { ...cmdline.profile, secureboot: true } });
    expect(params(plan, "command-line").text).toContain("lockdown=confidentiality");
  });

  it("refuses a unified kernel image before 1.5", () => {
    expect(() => planAsset(bootRecipe("uki", { version: "v1.4.8" }))).toThrow(
      expect.objectContaining({ code: "invalid_input" }),
    );
  });
});

describe("secrets", () => {
  it("hides an embedded configuration everywhere it stands and keeps the keys", () => {
    const secret = "machine: {token: s3cr3t-token}";
    const plan = planAsset(
      bootRecipe("initramfs", {
        embeddedConfig: secret,
        schematicText: `customization:\n  embeddedMachineConfiguration: ${secret}\n`,
      }),
    );
    expect(JSON.stringify(plan)).toContain("s3cr3t-token");
    expect(JSON.stringify(redactPlan(plan))).not.toContain("s3cr3t-token");
    expect(redactPlan(plan).key).toBe(plan.key);
  });
});

describe("G82 and G83: profiles of the unified kernel image", () => {
  const profiles = (recipe: Parameters<typeof planAsset>[0]) => params(planAsset(recipe), "uki").profiles;

  it("has no further profile for kind uki, reset for iso, none before 1.10", () => {
    expect(profiles(bootRecipe("uki", { version: "v1.14.0" }))).toEqual([]);
    expect(profiles(bootRecipe("iso", { version: "v1.14.0" }))).toEqual([
      {
        id: "reset",
        title: "Reset system disk",
        commandLine:
          "talos.platform=metal console=tty0 talos.halt_if_installed=1 slab_nomerge pti=on consoleblank=0 printk.devkmsg=on selinux=1 module.sig_enforce=1 proc_mem.force_override=never talos.experimental.wipe=system",
      },
    ]);
    expect(profiles(bootRecipe("uki", { version: "v1.9.5" }))).toEqual([]);
  });
});

describe("G86: ISO variants", () => {
  const variant = (
    version: string,
    arch: "amd64" | "arm64",
    bootloader: "grub" | "dual-boot" | "sd-boot" | null,
    secureboot = false,
  ) => isoVariant({ version, bootloader, profile: { ...bootRecipe("iso").profile, arch, secureboot } });

  it.each([
    ["v1.9.5", "amd64", null, "grub"],
    ["v1.10.0", "amd64", null, "hybrid"],
    ["v1.11.5", "amd64", null, "hybrid"],
    ["v1.11.5", "arm64", null, "hybrid"],
    ["v1.12.0", "amd64", "dual-boot", "hybrid"],
    ["v1.12.0", "arm64", "sd-boot", "uefi"],
    ["v1.11.5", "amd64", "grub", "hybrid"],
    ["v1.12.0", "amd64", "grub", "grub"],
    ["v1.12.0", "arm64", "dual-boot", "hybrid"],
  ] as const)("%s %s with boot loader %s is %s", (version, arch, bootloader, expected) => {
    expect(variant(version, arch, bootloader)).toBe(expected);
  });

  it("is UEFI-only with SecureBoot in every version", () => {
    expect(variant("v1.7.6", "amd64", null, true)).toBe("uefi");
  });

  it("is refused from 1.12 without a boot loader", () => {
    expect(() => variant("v1.12.0", "amd64", null)).toThrow("has no boot loader");
  });
});
