/** arm64 machines boot from the ISO and the disk that were built on this machine, which runs none of their code. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { missingPackages } from "../../scripts/boot/machine.ts";
import { startTestFactory, type TestFactory } from "../fixtures/factory.ts";
import { boot, expectEverything, META, SCHEMATIC, unpacked, VERSION } from "./machines.ts";

const missing = missingPackages("arm64").join(" ");

describe("a machine of arm64 boots", () => {
  if (missing !== "") {
    it("from ISO and disk", (context) => context.skip(`Debian packages that are not installed: ${missing}`));
    return;
  }
  let factory: TestFactory;
  let id: string;
  beforeAll(async () => {
    factory = await startTestFactory();
    id = await factory.schematic(SCHEMATIC);
  }, 300_000);
  afterAll(() => factory?.stop());

  it("from the ISO", async () => {
    const path = await factory.fetch(`/image/${id}/${VERSION}/metal-arm64.iso`);
    const result = await boot({ kind: "iso", path, firmware: "uefi" }, { arch: "arm64" });
    expectEverything(result, id, { arch: "arm64" });
    expect(result.markers.bootMode).toBe("uefi");
    expect(result.markers.cmdline).toContain("console=ttyAMA0");
    expect(result.markers.metaEnvironment).toEqual(META);
  });

  it("from the raw disk", async () => {
    const path = await unpacked(await factory.fetch(`/image/${id}/${VERSION}/metal-arm64.raw.zst`));
    const result = await boot({ kind: "disk", path, firmware: "uefi" }, { arch: "arm64" });
    expectEverything(result, id, { arch: "arm64" });
    expect(result.markers.bootMode).toBe("uefi");
    expect(result.markers.metaDisk).toEqual(META);
  });
});
