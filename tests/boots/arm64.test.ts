/** arm64 machines of every kind and release: GRUB before 1.10, hybrid ISOs after, systemd-boot and the UKI itself. */
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { missingPackages } from "../../scripts/boot/machine.ts";
import type { BootMedium } from "../../scripts/boot/media.ts";
import { pullInstaller, systemdBootDisk } from "../boot/installed-disk.ts";
import { boot, expectEverything, SCHEMATIC, unpacked, VERSION } from "../boot/machines.ts";
import { startTestFactory, type TestFactory } from "../fixtures/factory.ts";

const missing = missingPackages("arm64").join(" ");
const arch = "arm64";

describe("a machine of arm64 boots", () => {
  if (missing !== "") {
    it("from everything", (context) => context.skip(`Debian packages that are not installed: ${missing}`));
    return;
  }
  let factory: TestFactory;
  let id: string;
  beforeAll(async () => {
    factory = await startTestFactory();
    id = await factory.schematic(SCHEMATIC);
  }, 300_000);
  afterAll(() => factory?.stop());

  const bootAndExpect = async (medium: BootMedium, version: string, expected = id) => {
    const result = await boot(medium, { arch });
    expectEverything(result, expected, { arch, version });
    expect(result.markers.bootMode).toBe("uefi");
    return result;
  };

  for (const version of ["v1.9.5", "v1.10.7", "v1.14.0-beta.1"]) {
    it(`from the ISO of ${version}`, async () => {
      const path = await factory.fetch(`/image/${id}/${version}/metal-arm64.iso`);
      await bootAndExpect({ kind: "iso", path, firmware: "uefi" }, version);
    });
    it(`from the raw disk of ${version}`, async () => {
      const path = await unpacked(await factory.fetch(`/image/${id}/${version}/metal-arm64.raw.zst`));
      const { markers } = await bootAndExpect({ kind: "disk", path, firmware: "uefi" }, version);
      expect(markers.metaDisk).toMatchObject({ "0xc": "rack=7" });
    });
  }

  it("from the UKI, started by the firmware", async () => {
    const path = await factory.fetch(`/image/${id}/${VERSION}/metal-arm64-uki.efi`);
    await bootAndExpect({ kind: "efi", path }, VERSION);
  });

  it("from kernel, initramfs and command line", async () => {
    const folder = `/image/${id}/${VERSION}`;
    const cmdline = await (await fetch(`${factory.url}${folder}/cmdline-metal-arm64`)).text();
    const kernel = await factory.fetch(`${folder}/kernel-arm64`);
    const initramfs = await factory.fetch(`${folder}/initramfs-arm64.xz`);
    await bootAndExpect({ kind: "kernel", kernel, initramfs, cmdline, firmware: "uefi" }, VERSION);
  });

  it("from a disk with sectors of 4096 bytes", async () => {
    const large = await factory.schematic(`${SCHEMATIC}  diskImage:\n    sectorSize: 4096\n`);
    const path = await unpacked(await factory.fetch(`/image/${large}/${VERSION}/metal-arm64.raw.zst`));
    const hardware = { controller: "nvme", sectorBytes: 4096 } as const;
    const { markers } = await bootAndExpect(
      { kind: "disk", path, firmware: "uefi", hardware },
      VERSION,
      large,
    );
    expect(markers.sectorBytes).toBe(4096);
  });

  it("from the files of the installer image", async () => {
    const image = `metal-installer/${id}`;
    const files = await pullInstaller(factory, { image, version: VERSION, arch });
    const disk = await systemdBootDisk(await mkdtemp(join(factory.dataDir, "arm64-")), {
      ...{ loader: join(files, "systemd-boot.efi"), uki: join(files, "vmlinuz.efi"), version: VERSION, arch },
    });
    await bootAndExpect({ kind: "disk", path: disk, firmware: "uefi" }, VERSION);
  });
});
