/** IDs that are known from elsewhere: they must never change. */
import { expect, it } from "vitest";
import { schematicId } from "../../../lib/domain/schematic-id.ts";
import { parseSchematic } from "../../../lib/domain/schematic-parse.ts";

it.each<[string, string]>([
  ["customization: {}", "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"],
  [
    "customization: {extraKernelArgs: [noapic, nolapic]}",
    "9cba8e32753f91a16c1837ab8abf356af021706ef284aef07380780177d9a06c",
  ],
  [
    "customization: {meta: [{key: 10, value: foo}]}",
    "d308a2a5ee2277bed5fbaa104fcbc8d59122abfa737df987a95b4ca763459a7f",
  ],
  [
    "customization: {secureboot: {includeWellKnownCertificates: true}}",
    "fa8e05f142a851d3ee568eb0a8e5841eaf6b0ebc8df9a63df16ac5ed2c04f3e6",
  ],
  [
    "customization: {diskImage: {sectorSize: 4096}}",
    "92833e9ddd9bb9e11b2464fa5525429f01866306d52ebd882ee08d7918f6d1ea",
  ],
  [
    "overlay: {image: siderolabs/sbc-raspberrypi, name: rpi_generic}",
    "ee21ef4a5ef808a9b7484cc0dda0f25075021691c8c09a276591eedb638ea1f9",
  ],
])("G78 %s", (text, id) => {
  expect(schematicId(parseSchematic(text))).toBe(id);
});
