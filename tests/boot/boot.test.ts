/** Machines boot from what the running factory serves: kernel, ISO, disk and network. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestFactory, type TestFactory } from "../fixtures/factory.ts";
import { boot, expectEverything, META, SCHEMATIC, unpacked, VERSION } from "./machines.ts";

let factory: TestFactory;
let id: string;
const asset = (name: string): string => `/image/${id}/${VERSION}/${name}`;

beforeAll(async () => {
  factory = await startTestFactory();
  id = await factory.schematic(SCHEMATIC);
}, 300_000);
afterAll(() => factory?.stop());

describe("a machine boots", () => {
  it("from kernel, initramfs and command line", async () => {
    const cmdline = await (await fetch(factory.url + asset("cmdline-metal-amd64"))).text();
    const result = await boot({
      kind: "kernel",
      kernel: await factory.fetch(asset("kernel-amd64")),
      initramfs: await factory.fetch(asset("initramfs-amd64.xz")),
      cmdline,
    });
    expectEverything(result, id);
    expect(result.markers.metaEnvironment).toEqual(META);
  });

  for (const firmware of ["bios", "uefi"] as const) {
    it(`from the ISO by ${firmware}`, async () => {
      const result = await boot({
        kind: "iso",
        path: await factory.fetch(asset("metal-amd64.iso")),
        firmware,
      });
      expectEverything(result, id);
      expect(result.markers.bootMode).toBe(firmware);
      expect(result.markers.metaEnvironment).toEqual(META);
    });

    it(`from the raw disk by ${firmware}`, async () => {
      const packed = await factory.fetch(asset("metal-amd64.raw.zst"));
      const result = await boot({ kind: "disk", path: await unpacked(packed), firmware });
      expectEverything(result, id);
      expect(result.markers.bootMode).toBe(firmware);
      expect(result.markers.metaDisk).toEqual({ ...META, "0x11": "dual-boot" });
    });
  }

  it("over the network by iPXE", async () => {
    const url = `${factory.url.replace("127.0.0.1", "10.0.2.2")}/pxe/${id}/${VERSION}/metal-amd64`;
    const result = await boot({ kind: "ipxe", firmware: "bios", script: [`chain ${url}`] });
    expectEverything(result, id);
    expect(result.markers.metaEnvironment).toEqual(META);
  });

  it("from the UKI, started by the firmware", async () => {
    const result = await boot({ kind: "efi", path: await factory.fetch(asset("metal-amd64-uki.efi")) });
    expectEverything(result, id);
    expect(result.markers.bootMode).toBe("uefi");
  });
});
