/** More layouts of an installation: GRUB by UEFI, GRUB with the parts of the unified kernel image, the newest release. */
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { grubDisk, partsOfUki, pullInstaller, systemdBootDisk } from "../boot/installed-disk.ts";
import { boot, expectEverything, SCHEMATIC, VERSION } from "../boot/machines.ts";
import { startTestFactory, type TestFactory } from "../fixtures/factory.ts";

const OLD_VERSION = "v1.9.5";
const NEW_VERSION = "v1.14.0-beta.1";

let factory: TestFactory;
let id: string;

beforeAll(async () => {
  factory = await startTestFactory();
  id = await factory.schematic(SCHEMATIC);
}, 300_000);
afterAll(() => factory?.stop());

const scratch = (): Promise<string> => mkdtemp(join(factory.dataDir, "disk-"));
const pull = (version: string): Promise<string> =>
  pullInstaller(factory, { image: `metal-installer/${id}`, version });

describe("the files of the installer image boot", () => {
  it(`${OLD_VERSION}: kernel and initramfs on the BOOT partition, by uefi`, async () => {
    const files = await pull(OLD_VERSION);
    const line = await fetch(`${factory.url}/image/${id}/${OLD_VERSION}/cmdline-metal-amd64`);
    const parts = {
      kernel: join(files, "vmlinuz"),
      initramfs: join(files, "initramfs.xz"),
      cmdline: await line.text(),
      version: OLD_VERSION,
    };
    const result = await boot({
      kind: "disk",
      path: await grubDisk(await scratch(), parts, "uefi"),
      firmware: "uefi",
    });
    expectEverything(result, id, { version: OLD_VERSION });
  });

  describe("what GRUB takes out of the unified kernel image", () => {
    let files: string;
    beforeAll(async () => {
      files = await pull(VERSION);
    }, 300_000);
    for (const firmware of ["bios", "uefi"] as const) {
      it(`${VERSION}, by ${firmware}`, async () => {
        const dir = await scratch();
        const parts = { ...(await partsOfUki(dir, join(files, "vmlinuz.efi"))), version: VERSION };
        const result = await boot({ kind: "disk", path: await grubDisk(dir, parts, firmware), firmware });
        expectEverything(result, id);
        expect(result.markers.bootMode).toBe(firmware);
      });
    }
  });

  it(`${NEW_VERSION}: systemd-boot and the unified kernel image, by uefi`, async () => {
    const files = await pull(NEW_VERSION);
    const path = await systemdBootDisk(await scratch(), {
      loader: join(files, "systemd-boot.efi"),
      uki: join(files, "vmlinuz.efi"),
      version: NEW_VERSION,
    });
    const result = await boot({ kind: "disk", path, firmware: "uefi" });
    expectEverything(result, id, { version: NEW_VERSION });
  });
});
