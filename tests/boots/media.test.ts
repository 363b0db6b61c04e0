/** The firmware that the shorter tests leave out: every disk format by BIOS and UEFI, 4096-byte sectors on both controllers. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { diskMedium, largeSectorMedium } from "../boot/disk-files.ts";
import { boot, expectEverything, META, SCHEMATIC, unpacked, VERSION } from "../boot/machines.ts";
import { startTestFactory, type TestFactory } from "../fixtures/factory.ts";

let factory: TestFactory;
let id: string;

beforeAll(async () => {
  factory = await startTestFactory();
  id = await factory.schematic(SCHEMATIC);
}, 300_000);
afterAll(() => factory?.stop());

const DISKS = [
  { format: "qcow2", firmware: "bios" },
  { format: "vhd", firmware: "uefi" },
  { format: "ova", firmware: "bios" },
] as const;

describe("a machine boots", () => {
  for (const { format, firmware } of DISKS) {
    it(`from the ${format} by ${firmware}`, async () => {
      const result = await boot(await diskMedium(factory, `/image/${id}/${VERSION}`, format, firmware));
      expectEverything(result, id);
      expect(result.markers).toMatchObject({ bootMode: firmware, sectorBytes: 512 });
      expect(result.markers.metaDisk).toEqual({ ...META, "0x11": "dual-boot" });
    });
  }

  it("from a disk with sectors of 4096 bytes on virtio", async () => {
    const large = await factory.schematic(`${SCHEMATIC}  diskImage:\n    sectorSize: 4096\n`);
    const path = `/image/${large}/${VERSION}/metal-amd64.raw.zst`;
    const result = await boot(await largeSectorMedium(factory, path, "virtio"));
    expectEverything(result, large);
    expect(result.markers).toMatchObject({ bootMode: "uefi", sectorBytes: 4096 });
  });

  for (const bootloader of ["grub", "sd-boot"] as const) {
    it(`from a disk with ${bootloader} alone`, async () => {
      const own = await factory.schematic(`${SCHEMATIC}  bootloader: ${bootloader}\n`);
      const path = await unpacked(await factory.fetch(`/image/${own}/${VERSION}/metal-amd64.raw.zst`));
      const result = await boot({ kind: "disk", path, firmware: "uefi" });
      expectEverything(result, own);
      expect(result.markers.metaDisk).toEqual(META);
    });
  }
});
