/** The rules that change with the version, seen from a booted machine: GRUB images before 1.10, newer ones after. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestFactory, type TestFactory } from "../fixtures/factory.ts";
import { boot, unpacked } from "./machines.ts";

const SCHEMATIC = `customization:
  meta:
    - key: 0xc
      value: rack=7
  systemExtensions:
    officialExtensions:
      - siderolabs/drbd
      - siderolabs/hello-world-service
`;

let factory: TestFactory;
let id: string;

beforeAll(async () => {
  factory = await startTestFactory();
  id = await factory.schematic(SCHEMATIC);
}, 300_000);
afterAll(() => factory?.stop());

/** Name of the disk image boot loader that META of a default disk carries, by release; none before 1.10. */
const CASES = [
  { version: "v1.9.5", mode: "bios", loader: {} },
  { version: "v1.9.5", mode: "uefi", loader: {} },
  { version: "v1.10.7", mode: "uefi", loader: { "0x11": "dual-boot" } },
  { version: "v1.14.0-beta.1", mode: "bios", loader: { "0x11": "dual-boot" } },
] as const;

describe("a machine boots", () => {
  for (const { version, mode, loader } of CASES) {
    it(`${version} from the ISO and the raw disk by ${mode}`, async () => {
      const path = (name: string) => factory.fetch(`/image/${id}/${version}/${name}`);
      const iso = await boot({ kind: "iso", path: await path("metal-amd64.iso"), firmware: mode });
      const disk = await boot({
        kind: "disk",
        path: await unpacked(await path("metal-amd64.raw.zst")),
        firmware: mode,
      });
      for (const { markers } of [iso, disk]) {
        expect(markers).toMatchObject({ version, schematic: id, bootMode: mode });
        expect(markers.extensions.map(({ name }) => name)).toEqual([
          "drbd",
          "hello-world-service",
          "schematic",
          "modules.dep",
        ]);
        expect(markers.modules).toContainEqual({ name: "drbd", loaded: true });
      }
      expect(iso.markers.metaEnvironment).toEqual({ "0xc": "rack=7" });
      expect(disk.markers.metaDisk).toEqual({ "0xc": "rack=7", ...loader });
    });
  }
});
