/** Machines boot from every format of a disk, from sectors of 4096 bytes, and from the UKI that iPXE fetches. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestFactory, type TestFactory } from "../fixtures/factory.ts";
import { diskMedium, largeSectorMedium } from "./disk-files.ts";
import { boot, expectEverything, META, SCHEMATIC, VERSION } from "./machines.ts";

let factory: TestFactory;
let id: string;

beforeAll(async () => {
  factory = await startTestFactory();
  id = await factory.schematic(SCHEMATIC);
}, 300_000);
afterAll(() => factory?.stop());

/** Each format by one firmware; `npm run boots` has the others. */
const DISKS = [
  { format: "qcow2", firmware: "uefi", platform: "metal" },
  { format: "vhd", firmware: "bios", platform: "metal" },
  { format: "ova", firmware: "uefi", platform: "vmware" },
] as const;

describe("a machine boots", () => {
  for (const { format, firmware, platform } of DISKS) {
    it(`from the ${format} by ${firmware}`, async () => {
      const result = await boot(await diskMedium(factory, `/image/${id}/${VERSION}`, format, firmware));
      expectEverything(result, id);
      expect(result.markers.cmdline).toContain(`talos.platform=${platform}`);
      expect(result.markers).toMatchObject({ bootMode: firmware, sectorBytes: 512 });
      expect(result.markers.metaDisk).toEqual({ ...META, "0x11": "dual-boot" });
    });
  }

  it("from a disk with sectors of 4096 bytes", async () => {
    const large = await factory.schematic(`${SCHEMATIC}  diskImage:\n    sectorSize: 4096\n`);
    const path = `/image/${large}/${VERSION}/metal-amd64.raw.zst`;
    const result = await boot(await largeSectorMedium(factory, path));
    expectEverything(result, large);
    expect(result.markers).toMatchObject({ bootMode: "uefi", sectorBytes: 4096 });
    expect(result.markers.metaDisk).toEqual({ ...META, "0x11": "dual-boot" });
  });

  it("from the UKI over the network by iPXE", async () => {
    const folder = `/image/${id}/${VERSION}`;
    const url = `${factory.url.replace("127.0.0.1", "10.0.2.2")}${folder}/metal-amd64-uki.efi`;
    await factory.fetch(`${folder}/metal-amd64-uki.efi`);
    // Without Secure Boot systemd-stub prefers what the caller says to the line inside, and iPXE always says something.
    const cmdline = await (await fetch(`${factory.url}${folder}/cmdline-metal-amd64`)).text();
    const result = await boot({
      kind: "ipxe",
      firmware: "uefi",
      script: [`kernel ${url} ${cmdline}`, "boot"],
    });
    expectEverything(result, id);
    expect(result.markers.bootMode).toBe("uefi");
    // A slow download shows per cent and takes them back.
    expect(result.serial).toMatch(/metal-amd64-uki\.efi\.\.\.[ \d%\b]*ok/);
  });
});
