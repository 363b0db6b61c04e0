import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  CPIO_FILE,
  CPIO_FOLDER,
  type CpioMember,
  cpioHeader,
  cpioPadding,
  cpioTrailer,
  listCpio,
} from "../../../lib/formats/cpio.ts";
import { layoutPe, parsePe } from "../../../lib/formats/pe.ts";

function archive(members: { member: CpioMember; content: Uint8Array }[]): Buffer {
  const chunks: Uint8Array[] = [];
  for (const [inode, { member, content }] of members.entries()) {
    chunks.push(cpioHeader(member, inode), content, cpioPadding(content.length));
  }
  const body = Buffer.concat(chunks);
  return Buffer.concat([body, cpioTrailer(body.length)]);
}

describe("cpio", () => {
  it("is byte for byte what GNU cpio writes", () => {
    const dir = mkdtempSync(join(tmpdir(), "cpio-"));
    try {
      const time = 1559424892;
      mkdirSync(join(dir, "usr"), { mode: 0o755 });
      writeFileSync(join(dir, "usr/a.sqsh"), "hello", { mode: 0o644 });
      writeFileSync(join(dir, "empty"), "", { mode: 0o644 });
      for (const path of ["usr/a.sqsh", "usr", "empty"]) utimesSync(join(dir, path), time, time);
      const real = execFileSync(
        "cpio",
        ["-H", "newc", "--create", "--reproducible", "--quiet", "-R", "+0:+0"],
        {
          cwd: dir,
          input: "empty\nusr\nusr/a.sqsh\n",
        },
      );
      const file = (name: string, content: Buffer) => ({
        member: { name, mode: CPIO_FILE | 0o644, links: 1, sizeBytes: content.length, mtime: time },
        content,
      });
      const folder = {
        name: "usr",
        mode: CPIO_FOLDER | 0o755,
        links: statSync(join(dir, "usr")).nlink,
        sizeBytes: 0,
        mtime: time,
      };
      const ours = archive([
        file("empty", Buffer.alloc(0)),
        { member: folder, content: Buffer.alloc(0) },
        file("usr/a.sqsh", Buffer.from("hello")),
      ]);
      expect(ours.equals(real)).toBe(true);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it("finds every member again, whatever names and sizes", async () => {
    const names = fc.uniqueArray(
      fc.string({ minLength: 1, maxLength: 40, unit: "grapheme" }).filter((name) => !name.includes("\0")),
      { maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(names, fc.nat(5000), async (list, size) => {
        const members = list.map((name, index) => {
          const content = Buffer.alloc((size + index * 7) % 5000, index);
          return {
            member: { name, mode: CPIO_FILE | 0o644, links: 1, sizeBytes: content.length, mtime: 1 },
            content,
          };
        });
        const bytes = archive(members);
        expect(bytes.length % 512).toBe(0);
        const found = await listCpio(async (offset, length) => bytes.subarray(offset, offset + length));
        expect(found.map(({ name }) => name)).toEqual(list);
        for (const [index, { offset, sizeBytes }] of found.entries()) {
          expect(
            bytes.subarray(offset, offset + sizeBytes).equals(members[index]?.content ?? Buffer.alloc(0)),
          ).toBe(true);
        }
      }),
      { numRuns: 50 },
    );
  });

  it("refuses damaged archives instead of reading on", async () => {
    const read = (bytes: Buffer) =>
      listCpio(async (offset, length) => bytes.subarray(offset, offset + length));
    await expect(read(Buffer.alloc(0))).rejects.toThrow(RangeError);
    await expect(read(Buffer.from("070701".padEnd(110, "0")))).rejects.toThrow("cpio name of 0 bytes");
    const good = archive([
      {
        member: { name: "a", mode: CPIO_FILE, links: 1, sizeBytes: 4, mtime: 0 },
        content: Buffer.from("abcd"),
      },
    ]);
    await expect(read(good.subarray(0, 116))).rejects.toThrow(RangeError);
  });
});

/** A PE32+ image with one section, alignments as given. */
function smallPe(sectionAlignment: number, fileAlignment: number): Buffer {
  const image = Buffer.alloc(1024);
  image.write("MZ");
  image.writeUInt32LE(0x40, 0x3c);
  image.write("PE\0\0", 0x40);
  image.writeUInt16LE(1, 0x46);
  image.writeUInt16LE(240, 0x54);
  const optional = 0x58;
  image.writeUInt16LE(0x20b, optional);
  image.writeUInt16LE(0x0a02, optional + 2);
  image.writeUInt32LE(sectionAlignment, optional + 32);
  image.writeUInt32LE(fileAlignment, optional + 36);
  const table = optional + 240;
  image.write(".text", table);
  image.writeUInt32LE(100, table + 8);
  image.writeUInt32LE(0x1000, table + 12);
  image.writeUInt32LE(512, table + 16);
  image.writeUInt32LE(512, table + 20);
  image.writeUInt32LE(7, table + 24);
  image.writeUInt32LE(0x60000020, table + 36);
  return image;
}

describe("PE", () => {
  it("G85: puts appended sections on aligned addresses behind each other", () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(100_000), { minLength: 1, maxLength: 12 }),
        fc.constantFrom(512, 4096),
        (sizes, alignment) => {
          const layout = layoutPe(
            smallPe(alignment, 512),
            sizes.map((sizeBytes) => ({ name: ".initrd", sizeBytes })),
            5,
          );
          const added = layout.sections.slice(1);
          expect(added.map(({ virtualSize }) => virtualSize)).toEqual(sizes);
          let address = 0x1000 + 100;
          let offset = layout.headers.length + 512;
          for (const section of added) {
            expect(section.virtualAddress % alignment).toBe(0);
            expect(section.virtualAddress).toBeGreaterThanOrEqual(address);
            expect(section.virtualAddress - address).toBeLessThan(alignment);
            expect(section.rawOffset).toBe(offset);
            expect(section.characteristics).toBe(0x40000040);
            address = section.virtualAddress + section.virtualSize;
            offset += section.rawSizeBytes;
          }
          expect(layout.fileBytes).toBe(offset);
          expect(parsePe(layout.headers).sections).toEqual(layout.sections);
        },
      ),
    );
  });

  it("moves the header to 0x80, clears linker version, checksum and line pointers, and sets the time", () => {
    const { headers } = layoutPe(smallPe(4096, 512), [{ name: ".osrel", sizeBytes: 3 }], 1559424892);
    const bytes = Buffer.from(headers);
    expect(bytes.readUInt32LE(0x3c)).toBe(0x80);
    expect(bytes.readUInt32LE(0x84 + 4)).toBe(1559424892);
    const optional = 0x84 + 20;
    expect([bytes.readUInt16LE(optional + 2), bytes.readUInt32LE(optional + 64)]).toEqual([0, 0]);
    expect(bytes.readUInt32LE(optional + 4)).toBe(512);
    expect(bytes.readUInt32LE(optional + 8)).toBe(512);
    expect(bytes.readUInt32LE(optional + 240 + 24)).toBe(0);
  });

  it("refuses symbols, other files and cut headers", () => {
    const symbols = smallPe(4096, 512);
    symbols.writeUInt32LE(900, 0x44 + 8);
    expect(() => layoutPe(symbols, [], 0)).toThrow("COFF symbols");
    expect(() => parsePe(Buffer.alloc(1024))).toThrow("no MZ signature");
    expect(() => parsePe(smallPe(4096, 512).subarray(0, 0x80))).toThrow(RangeError);
    expect(() => parsePe(smallPe(0, 512))).toThrow("zero PE alignment");
  });
});
