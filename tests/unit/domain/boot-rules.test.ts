/** Boot loaders and disk sizes. */
import { describe, expect, it } from "vitest";
import { diskSize, resolveBootloader } from "../../../lib/domain/boot-rules.ts";
import { recipeFor } from "../../fixtures/recipes.ts";
import { refusal } from "../../fixtures/refusal.ts";

const disk = (path: string, version: string) => recipeFor(path, version).diskSizeBytes;

describe("disk size", () => {
  it.each([
    ["metal-amd64.raw", "v1.9.5", 1306525696],
    ["metal-amd64.raw", "v1.10.0", 2356150272],
    ["metal-amd64.raw", "v1.11.0", 4453302272],
    ["metal-arm64.raw", "v1.10.0", 1306525696],
    ["metal-arm64.raw", "v1.11.0", 2355101696],
    ["metal-amd64-secureboot.raw", "v1.14.0", 2355101696],
  ])("G62 of %s %s is %i", (path, version, size) => expect(disk(path, version)).toBe(size));

  it.each([
    ["aws-amd64.raw", "v1.14.0", 11736711168],
    ["aws-arm64.raw", "v1.14.0", 9638510592],
    ["aws-amd64.raw", "v1.9.5", 8589934592],
    ["aws-amd64.raw", "v1.10.0", 9639559168],
    ["exoscale-amd64.qcow2", "v1.10.0", 11787042816],
    ["exoscale-amd64.qcow2", "v1.11.0", 13884194816],
    ["exoscale-arm64.qcow2", "v1.11.0", 11785994240],
  ])("G63 of %s %s is %i", (path, version, size) => expect(disk(path, version)).toBe(size));

  it("follows a chosen boot loader", () => {
    const base = 1306525696;
    expect(diskSize(base, "v1.11.0", "grub")).toBe(base + 1000 * 1048576);
    expect(diskSize(base, "v1.9.5", "dual-boot")).toBe(base + 1001 * 1048576);
    expect(disk("metal-amd64.iso", "v1.11.0")).toBeNull();
  });
});

describe("boot loader", () => {
  const boot = (version: string, arch: "amd64" | "arm64", secureboot = false) =>
    resolveBootloader({ version, arch, secureboot }, null);

  it("G64 depends on release and architecture, SecureBoot is always sd-boot", () => {
    expect(boot("v1.9.5", "amd64")).toBe("grub");
    expect(boot("v1.10.0", "amd64")).toBe("dual-boot");
    expect(boot("v1.9.5", "arm64")).toBe("grub");
    expect(boot("v1.10.0", "arm64")).toBe("sd-boot");
    expect(boot("v1.9.5", "amd64", true)).toBe("sd-boot");
    expect(boot("v1.14.0", "arm64", true)).toBe("sd-boot");
    expect(boot("unreadable", "amd64")).toBe("grub");
  });

  const choice = (bootloader: string) => `customization:\n    bootloader: ${bootloader}\n`;

  it("G106 refuses dual-boot for an arm64 disk, and SecureBoot overrides a chosen grub", () => {
    const thrown = refusal(() => recipeFor("metal-arm64.raw", "v1.13.0", choice("dual-boot")));
    expect(thrown.status).toBe(400);
    expect(thrown.message).toBe(
      "error enhancing profile from schematic: bootloader dual-boot is not supported for arm64 disk images",
    );
    expect(recipeFor("metal-amd64-secureboot.raw", "v1.13.0", choice("grub")).bootloader).toBe("sd-boot");
  });

  it("keeps the choice for disks and for ISOs that can honour it", () => {
    expect(recipeFor("metal-amd64.raw", "v1.13.0", choice("sd-boot")).bootloader).toBe("sd-boot");
    expect(recipeFor("metal-arm64.iso", "v1.12.0", choice("dual-boot")).bootloader).toBe("dual-boot");
    expect(recipeFor("metal-amd64.iso", "v1.11.5", choice("grub")).bootloader).toBeNull();
    expect(recipeFor("metal-amd64.raw", "v1.9.5", choice("sd-boot")).bootloader).toBe("sd-boot");
  });

  it("is null for kinds that have none", () => {
    for (const path of ["kernel-amd64", "initramfs-amd64.xz", "metal-amd64-uki.efi", "installer-amd64.tar"]) {
      expect(recipeFor(path, "v1.13.0", choice("grub")).bootloader, path).toBeNull();
    }
  });

  it("refuses systemd-boot where there are no unified kernel images", () => {
    expect(refusal(() => recipeFor("metal-amd64.raw", "v1.4.8", choice("dual-boot"))).message).toContain(
      "bootloader dual-boot is not supported for Talos version v1.4.8",
    );
  });
});
