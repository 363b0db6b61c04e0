/** What the installer image carries boots once it lies where an installation puts it. */
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestFactory, type TestFactory } from "../fixtures/factory.ts";
import { grubDisk, pullInstaller, systemdBootDisk } from "./installed-disk.ts";
import { boot, expectEverything, SCHEMATIC, VERSION } from "./machines.ts";

const OLD_VERSION = "v1.9.5";

let factory: TestFactory;
let id: string;

beforeAll(async () => {
  factory = await startTestFactory();
  id = await factory.schematic(SCHEMATIC);
}, 300_000);
afterAll(() => factory?.stop());

const scratch = (name: string): Promise<string> => mkdtemp(join(factory.dataDir, name));

describe("the files of the installer image boot", () => {
  it(`${VERSION}: systemd-boot and the unified kernel image on the EFI partition, by uefi`, async () => {
    const files = await pullInstaller(factory, { image: `metal-installer/${id}`, version: VERSION });
    const disk = await systemdBootDisk(await scratch("sd-boot-"), {
      loader: join(files, "systemd-boot.efi"),
      uki: join(files, "vmlinuz.efi"),
      version: VERSION,
    });
    const result = await boot({ kind: "disk", path: disk, firmware: "uefi" });
    expectEverything(result, id);
    expect(result.markers).toMatchObject({ bootMode: "uefi", metaDisk: {} });
  });

  it(`${OLD_VERSION}: kernel and initramfs on the BOOT partition, by bios`, async () => {
    const files = await pullInstaller(factory, { image: `metal-installer/${id}`, version: OLD_VERSION });
    const line = await fetch(`${factory.url}/image/${id}/${OLD_VERSION}/cmdline-metal-amd64`);
    const parts = {
      kernel: join(files, "vmlinuz"),
      initramfs: join(files, "initramfs.xz"),
      cmdline: await line.text(),
      version: OLD_VERSION,
    };
    const disk = await grubDisk(await scratch("grub-"), parts, "bios");
    const result = await boot({ kind: "disk", path: disk, firmware: "bios" });
    expectEverything(result, id, { version: OLD_VERSION });
    expect(result.markers).toMatchObject({ bootMode: "bios", metaDisk: {} });
  });
});
