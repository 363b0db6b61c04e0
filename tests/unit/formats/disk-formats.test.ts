/** Formats of disk images: partition table, META, menus, prototype files, checksums and addresses. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { quirks } from "../../../lib/domain/quirks.ts";
import { metaPartition } from "../../../lib/formats/adv.ts";
import { crc32, crc32Combine, crc32c, crc32OfZeros } from "../../../lib/formats/crc32.ts";
import { gptLayout, gptWrites } from "../../../lib/formats/gpt.ts";
import { patchedBootImage, patchedCoreImage } from "../../../lib/formats/grub-bios.ts";
import { grubDiskConfig } from "../../../lib/formats/grub-disk-config.ts";
import { grubQuote } from "../../../lib/formats/grub-quote.ts";
import { guidBytes, guidFromLabel, guidText } from "../../../lib/formats/guid.ts";
import { loaderConf } from "../../../lib/formats/loader-conf.ts";
import { type ProtoNode, protofile } from "../../../lib/formats/protofile.ts";
import { fixedVhdFooter } from "../../../lib/formats/vhd.ts";
import { DISK_GUID, diskPartitions, effectiveBootloader } from "../../../lib/imager/plan/disk-layout.ts";

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const HASH_OFFSET = 256 * 1024 - 36;

const layoutOf = (
  version: string,
  loader: Parameters<typeof diskPartitions>[1],
  sectors: number,
  extra = {},
) =>
  gptLayout({
    guid: DISK_GUID,
    sectorSize: 512,
    diskBytes: sectors * 512,
    entriesOffset: 0,
    partitions: diskPartitions(version, loader),
    ...extra,
  });
const places = (layout: ReturnType<typeof layoutOf>) =>
  layout.partitions.map(({ name, firstLba, lastLba }) => `${name} ${firstLba}-${lastLba}`);

describe("META partition", () => {
  it.each([
    [
      "G56",
      [{ tag: 0x11, value: "dual-boot" }],
      "6d0596ed48c85c53cc78720a976e9a7b4bcd961008c286c98c08b1d37df47c89",
      "06e3d2ed4b42cb23159b6dd3a8ef54020b78207138a62f366fdb1465ab138438",
    ],
    [
      "G57",
      [{ tag: 0x0a, value: "foo" }],
      "0974af06e9457710d1abb21c12a59893c13f6918b114be059da051b0f40ffd6b",
      "b2257bb93d338c539bb75e3f6ee0dd97520287c3c5f3720096d4df945cf207ac",
    ],
    [
      "G58",
      [
        { tag: 0x11, value: "dual-boot" },
        { tag: 0x0a, value: "foo" },
      ],
      "7c3fa58647e9ab190dfce4db78b5bb5ced4e00c4b69611159560b45e23aee9ff",
      "fc1eb9a5dae577076e0a30dccc5c81779563690318999b8d939c41ef19126a14",
    ],
  ])("%s has the known checksum and bytes", (_name, records, checksum, whole) => {
    const image = metaPartition(records);
    expect(image.length).toBe(1024 * 1024);
    expect(hex(image.subarray(HASH_OFFSET, HASH_OFFSET + 32))).toBe(checksum);
    expect(sha256(image)).toBe(whole);
  });

  it("G56 starts with magic, tag, length and value", () => {
    const image = metaPartition([{ tag: 0x11, value: "dual-boot" }]);
    expect(hex(image.subarray(0, 21))).toBe("5a4b3c2d00000011000000096475616c2d626f6f74");
  });

  it("counts bytes, not characters, and refuses what does not fit", () => {
    const image = metaPartition([{ tag: 10, value: "é" }]);
    expect(hex(image.subarray(4, 14))).toBe("0000000a00000002c3a9");
    expect(() => metaPartition([{ tag: 10, value: "x".repeat(262_069) }])).toThrow(
      /META values need 262077 bytes/,
    );
    expect(metaPartition([{ tag: 10, value: "x".repeat(262_068) }])).toHaveLength(1024 * 1024);
    expect(() => metaPartition([{ tag: 0, value: "x" }])).toThrow(/META key 0/);
  });
});

describe("GUIDs", () => {
  it.each([
    ["talos-image-disk", "d92d45b3-cde9-8760-be9f-a2a71fac8d11"],
    ["EFI", "bca5174b-0118-8a6a-af0b-2c6e1585acae"],
    ["BIOS", "a2a02ff5-d88d-8e6e-9c95-26b9b6c80bc3"],
    ["BOOT", "24c73076-4092-85dd-9d98-686a2dbf6d81"],
    ["META", "cf04f137-101e-8ec6-9627-fa3f51cdabb8"],
    ["STATE", "f7f88648-df7c-8acb-b4d2-6f124659d923"],
    ["EPHEMERAL", "c5e02400-0e5e-80bc-99ec-53b3e45ad6c4"],
    ["IMAGECACHE", "3b5449bc-c21f-8009-8b51-18945967f8df"],
  ])("G94 the label %s gives %s", (label, guid) => {
    expect(guidFromLabel(label)).toBe(guid);
  });

  it("are stored with the first three fields little-endian and read back", () => {
    const bytes = guidBytes("C12A7328-F81F-11D2-BA4B-00A0C93EC93B");
    expect(hex(bytes)).toBe("28732ac11ff8d211ba4b00a0c93ec93b");
    expect(guidText(bytes)).toBe("c12a7328-f81f-11d2-ba4b-00a0c93ec93b");
    expect(() => guidBytes("not-a-guid")).toThrow(/is not a GUID/);
  });
});

describe("partition layout", () => {
  it("G95 metal amd64 1.14.0", () => {
    const layout = layoutOf("v1.14.0", "dual-boot", 8_697_856);
    expect(places(layout)).toEqual([
      "EFI 2048-4304895",
      "BIOS 4304896-4306943",
      "BOOT 4306944-8402943",
      "META 8402944-8404991",
    ]);
    expect([layout.secondaryEntriesLba, layout.lastLba]).toEqual([8_697_823, 8_697_855]);
  });

  it("G96 metal arm64 1.14.0", () => {
    const layout = layoutOf("v1.14.0", "sd-boot", 4_599_808);
    expect(places(layout)).toEqual(["EFI 2048-4304895", "META 4304896-4306943"]);
    expect(layout.lastLba).toBe(4_599_807);
  });

  it("G97 metal amd64 1.7.6 has STATE and EPHEMERAL up to the last whole MiB", () => {
    expect(places(layoutOf("v1.7.6", "grub", 2_551_808))).toEqual([
      "EFI 2048-206847",
      "BIOS 206848-208895",
      "BOOT 208896-2256895",
      "META 2256896-2258943",
      "STATE 2258944-2463743",
      "EPHEMERAL 2463744-2549759",
    ]);
  });

  it("G98 metal amd64 1.14.0 with sectors of 4096 bytes", () => {
    const layout = layoutOf("v1.14.0", "dual-boot", 8_697_856, { sectorSize: 4096 });
    expect([layout.firstUsableLba, layout.entriesLba, layout.lastUsableLba]).toEqual([256, 2, 1_087_226]);
    expect(places(layout)).toEqual([
      "EFI 256-538111",
      "BIOS 538112-538367",
      "BOOT 538368-1050367",
      "META 1050368-1050623",
    ]);
  });

  it("G99 an overlay's offset moves the entries and leaves the gap alone", () => {
    const disk = { entriesOffset: 20_480 };
    const layout = layoutOf("v1.11.0", "grub", 5_000_000, disk);
    expect(layout.entriesLba).toBe(20_482);
    expect(places(layout)).toEqual([
      "EFI 22528-227327",
      "BIOS 227328-229375",
      "BOOT 229376-4325375",
      "META 4325376-4327423",
    ]);
    const writes = gptWrites({
      guid: DISK_GUID,
      diskBytes: 5_000_000 * 512,
      sectorSize: 512,
      partitions: diskPartitions("v1.11.0", "grub"),
      ...disk,
    });
    const gap = writes.filter(({ offset, bytes }) => offset < 20_482 * 512 && offset + bytes.length > 1024);
    expect(gap).toEqual([]);
  });

  it("G100 only BIOS has an attribute, and the protective entry is not bootable", () => {
    const attributes = diskPartitions("v1.14.0", "dual-boot").map(({ name, attributes: bits }) => [
      name,
      bits,
    ]);
    expect(attributes).toEqual([
      ["EFI", 0],
      ["BIOS", 4],
      ["BOOT", 0],
      ["META", 0],
    ]);
    const [mbr] = gptWrites({
      guid: DISK_GUID,
      diskBytes: 8_697_856 * 512,
      sectorSize: 512,
      entriesOffset: 0,
      partitions: diskPartitions("v1.14.0", "dual-boot"),
    });
    expect(mbr?.offset).toBe(446);
    expect(hex(mbr?.bytes ?? new Uint8Array(0)).slice(0, 32)).toBe("00000200eeffffff01000000ffb78400");
  });

  it("names the partition that does not fit", () => {
    expect(() => layoutOf("v1.14.0", "dual-boot", 4_400_000)).toThrow(/BOOT does not fit on a disk of/);
  });

  it("makes SecureBoot disks with systemd-boot, others with what was asked for", () => {
    expect(effectiveBootloader("grub", true)).toBe("sd-boot");
    expect(effectiveBootloader("grub", false)).toBe("grub");
  });
});

describe("texts", () => {
  it("G102 lists files before folders and refuses blanks", () => {
    const file = (name: string): ProtoNode => ({ type: "file", name, mode: 0o644, source: `/src/${name}` });
    const folder = (name: string, ...children: ProtoNode[]): ProtoNode => ({
      type: "directory",
      name,
      mode: 0o755,
      children,
    });
    const text = protofile([
      folder("subdir", folder("nested", file("deep.txt")), file("file2.txt"), file("file1.txt")),
      file("root2.txt"),
      folder("anotherdir", file("file.txt")),
      file("root1.txt"),
    ]);
    const names = text.split("\n").map((line) => line.trim().split(" ")[0]);
    expect(text.startsWith("/\n0 0\nd--755 0 0\n root1.txt ---644 0 0 /src/root1.txt\n")).toBe(true);
    expect(names.slice(3, -1)).toEqual(
      "root1.txt root2.txt anotherdir file.txt $ subdir file1.txt file2.txt nested deep.txt $ $ $".split(" "),
    );
    expect(() => protofile([file("a b")])).toThrow(/holds a blank/);
  });

  it("G103 the menu on disks has a reset entry from 1.4 on", () => {
    const config = (version: string) =>
      grubDiskConfig({
        version,
        commandLine: "a b={c}",
        resetEntry: quirks(version).resetMenuEntry,
      });
    const text = config("v1.14.0");
    expect(text.startsWith('set default="A - Talos v1.14.0"\n\nset timeout=3\n')).toBe(true);
    expect(text.match(/^menuentry /gm)).toHaveLength(2);
    expect(text.match(/^}$/gm)).toHaveLength(2);
    expect(text).toContain("  linux /A/vmlinuz a b=\\{c\\} talos.experimental.wipe=system:EPHEMERAL,STATE\n");
    expect(config("1.3.7").match(/^menuentry /gm)).toHaveLength(1);
  });

  it("G87 quotes a command line for GRUB", () => {
    expect(grubQuote("foo\\")).toBe("foo\\\\");
    expect(grubQuote("foo\\$")).toBe("foo\\\\\\$");
    // biome-ignore lint/suspicious/noTemplateCurlyInString: these braces are GRUB's
    expect(grubQuote("?u=${uuid}&m=${mac}")).toBe("?u=\\$\\{uuid\\}\\&m=\\$\\{mac\\}");
    expect(grubQuote("a #'*? b")).toBe("a #'*? b");
  });

  it("G92 loader.conf of a disk without SecureBoot", () => {
    expect(loaderConf(null)).toBe("# systemd-boot configuration\n\ntimeout 10\n");
    expect(loaderConf("force")).toBe(
      "# systemd-boot configuration\n\ntimeout 10\n\nsecure-boot-enroll force\n",
    );
  });

  it.each([
    ["1.7.6", "lts_6.1"],
    ["1.9.5", "lts_6.6"],
    ["1.12.4", "lts_6.12"],
    ["1.13.0", "lts_6.18"],
  ])("G104 the XFS profile of %s is %s", (version, profile) => {
    expect(quirks(version).xfsProfile).toBe(profile);
  });
});

describe("checksums and addresses", () => {
  const text = new TextEncoder().encode("123456789");

  it("CRC-32 and CRC-32C have their check values", () => {
    expect(crc32(text)).toBe(0xcbf43926);
    expect(crc32c(text)).toBe(0xe3069283);
  });

  it("CRC-32 of joined pieces and of zeros need not see the bytes", () => {
    const head = text.subarray(0, 4);
    const tail = text.subarray(4);
    expect(crc32Combine(crc32(head), crc32(tail), tail.length)).toBe(0xcbf43926);
    for (const length of [0, 1, 7, 4096, 100_003]) {
      expect(crc32OfZeros(length)).toBe(crc32(new Uint8Array(length)));
    }
  });

  it("G101 boot.img points at the core and the core at its second sector", () => {
    const boot = patchedBootImage(new Uint8Array(512), 4_304_896);
    expect(hex(boot.subarray(0x5c, 0x68))).toBe("00b041000000000000009090");
    const core = patchedCoreImage(new Uint8Array(1024), 4_304_896);
    expect(new DataView(core.buffer).getBigUint64(0x1f4, true)).toBe(4_304_897n);
  });

  it("a fixed VHD footer carries the exact size and a right checksum", () => {
    const footer = fixedVhdFooter(11_736_711_168, 1_559_424_892);
    const view = new DataView(footer.buffer);
    const sum = view.getUint32(64);
    view.setUint32(64, 0);
    expect(sum).toBe(~footer.reduce((total, byte) => total + byte, 0) >>> 0);
    expect([view.getBigUint64(40), view.getBigUint64(48)]).toEqual([11_736_711_168n, 11_736_711_168n]);
  });
});
