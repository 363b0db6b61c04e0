/** Partition tables of known disk images, field by field, against tests/vectors/data/layout.json. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Arch } from "../../lib/domain/asset.ts";
import type { Bootloader } from "../../lib/domain/recipe-types.ts";
import { crc32 } from "../../lib/formats/crc32.ts";
import { gptLayout, gptWrites } from "../../lib/formats/gpt.ts";
import { guidText } from "../../lib/formats/guid.ts";
import { DISK_GUID, diskPartitions, effectiveBootloader } from "../../lib/imager/plan/disk-layout.ts";

const headerSchema = z.object({
  currentLBA: z.int(),
  backupLBA: z.int(),
  firstUsable: z.int(),
  lastUsable: z.int(),
  diskGUID: z.string(),
  entriesLBA: z.int(),
});
const diskSchema = z.object({
  diskBytes: z.int(),
  sectorSize: z.int(),
  mbr: z.object({ entries: z.array(z.string()) }),
  primary: headerSchema,
  secondary: headerSchema,
  partitions: z.array(
    z.object({
      name: z.string(),
      type: z.string(),
      guid: z.string(),
      firstLBA: z.int(),
      lastLBA: z.int(),
      attributes: z.string(),
    }),
  ),
});
const data = z
  .object({ disk: z.record(z.string(), diskSchema) })
  .parse(JSON.parse(readFileSync("tests/vectors/data/layout.json", "utf8")));

/** What the name of a case says about how the disk was asked for. */
function asked(name: string): { version: string; arch: Arch; bootloader: Bootloader; secureboot: boolean } {
  const [version = "", , archText] = name.split(" ");
  const arch: Arch = archText === "arm64" ? "arm64" : "amd64";
  const [, minor] = version.split(".").map(Number);
  const byVersion: Bootloader = (minor ?? 0) < 10 ? "grub" : arch === "arm64" ? "sd-boot" : "dual-boot";
  const named = (["grub", "sd-boot"] as const).find((loader) => name.split(" ").includes(loader));
  const overlay = name.includes("overlay") ? "grub" : undefined;
  return {
    version,
    arch,
    secureboot: name.includes("secureboot"),
    bootloader: named ?? overlay ?? byVersion,
  };
}

function parseHeader(bytes: Uint8Array) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const lba = (offset: number) => Number(view.getBigUint64(offset, true));
  const cleared = Uint8Array.from(bytes);
  cleared.fill(0, 16, 20);
  expect(view.getUint32(16, true), "header CRC").toBe(crc32(cleared));
  return {
    currentLBA: lba(24),
    backupLBA: lba(32),
    firstUsable: lba(40),
    lastUsable: lba(48),
    diskGUID: guidText(bytes.subarray(56, 72)).toUpperCase(),
    entriesLBA: lba(72),
  };
}

describe("partition tables", () => {
  it("come in at least nineteen known cases", () => {
    expect(Object.keys(data.disk).length).toBeGreaterThanOrEqual(19);
  });

  it.each(Object.entries(data.disk))("%s is laid out as known", (name, want) => {
    const { version, bootloader, secureboot } = asked(name);
    const loader = effectiveBootloader(bootloader, secureboot);
    const disk = {
      guid: DISK_GUID,
      diskBytes: want.diskBytes,
      sectorSize: want.sectorSize,
      entriesOffset: want.primary.entriesLBA - 2,
      partitions: diskPartitions(version, loader),
    };
    const layout = gptLayout(disk);
    const { sectorSize } = disk;
    const got = layout.partitions.map((partition) => ({
      name: partition.name,
      type: partition.type.toUpperCase(),
      guid: partition.guid.toUpperCase(),
      firstLBA: partition.firstLba,
      lastLBA: partition.lastLba,
      attributes: `0x${partition.attributes.toString(16).padStart(16, "0")}`,
    }));
    expect(got).toEqual(want.partitions);
    const writes = new Map(gptWrites(disk).map(({ offset, bytes }) => [offset, bytes]));
    const at = (offset: number) => writes.get(offset) ?? new Uint8Array(0);
    expect(parseHeader(at(sectorSize))).toEqual(want.primary);
    expect(parseHeader(at(layout.lastLba * sectorSize))).toEqual(want.secondary);
    expect(Buffer.from(at(446).subarray(0, 16)).toString("hex")).toBe(want.mbr.entries[0]);
    expect(at(layout.secondaryEntriesLba * sectorSize)).toEqual(at(layout.entriesLba * sectorSize));
  });
});
