import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Recipe } from "../../lib/domain/recipe-types.ts";
import { type PeSection, parsePe } from "../../lib/formats/pe.ts";
import {
  type BootWorkshop,
  bootRecipe,
  bootWorkshop,
  KERNEL_RELEASE,
  sha256,
  tool,
} from "../fixtures/imager-boot-fixture.ts";
import { describePe, withOurStub } from "../fixtures/layout/pe.ts";
import { RECORDED_UKIS } from "../fixtures/layout/recorded.ts";

let shop: BootWorkshop;
beforeAll(async () => {
  shop = await bootWorkshop();
});
afterAll(() => shop?.close());

async function uki(changes: Partial<Recipe> = {}) {
  const { product } = await shop.build(bootRecipe("uki", changes), "shared");
  const bytes = await readFile(product.path);
  const { sections } = parsePe(bytes);
  const content = (section: PeSection | undefined) =>
    bytes.subarray(section?.rawOffset, (section?.rawOffset ?? 0) + (section?.virtualSize ?? 0));
  const texts = (name: string) =>
    sections.filter((section) => section.name === name).map((section) => content(section).toString());
  return { path: product.path, bytes, sections, content, texts };
}

const appended = (sections: { name: string }[]) =>
  sections.slice(sections.findIndex(({ name }) => name === ".osrel"));
const withoutSplash = (names: string[]) => names.filter((name) => name !== ".splash");

describe.each(["v1.9.5", "v1.13.0", "v1.14.0-beta.1"])("UKI of %s", (version) => {
  const recorded = RECORDED_UKIS[`${version} metal-amd64-uki.efi`];
  if (recorded === undefined) throw new Error(`nothing is recorded of ${version}`);

  it("has the recorded sections in order, without the picture", async () => {
    const { bytes } = await uki({ version });
    const ours = describePe(bytes);
    const names = withOurStub(recorded, ours).sections.map(({ name }) => name);
    expect(appended(recorded.sections).length).toBeGreaterThan(4);
    expect(ours.sections.map(({ name }) => name)).toEqual(withoutSplash(names));
  });

  it("has the recorded texts, but for the kernel's name", async () => {
    const { texts } = await uki({ version });
    for (const name of [".osrel", ".cmdline", ".profile"]) {
      const wanted = recorded.sections.filter((section) => section.name === name).map(({ text }) => text);
      expect(texts(name), name).toEqual(wanted);
    }
    expect(texts(".uname")).toEqual([KERNEL_RELEASE]);
  });

  it("has the recorded header fields that do not follow from sizes", async () => {
    const { bytes } = await uki({ version });
    const ours = describePe(bytes);
    const wanted = withOurStub(recorded, ours);
    const fields = [
      "e_lfanew",
      "machine",
      "timestamp",
      "linker",
      "checkSum",
      "subsystem",
      "entryPoint",
      "sizeOfCode",
    ];
    for (const field of fields) expect(ours[field], field).toBe(wanted[field]);
  });
});

describe("G85: placement of appended sections", () => {
  it("aligns addresses and offsets to what the stub asks for, without gaps or overlaps", async () => {
    const { bytes, sections } = await uki();
    const { sectionAlignment, fileAlignment } = parsePe(bytes);
    let previous: PeSection | undefined;
    for (const section of sections) {
      expect(section.rawOffset % fileAlignment, section.name).toBe(0);
      if (previous) expect(section.rawOffset).toBe(previous.rawOffset + previous.rawSizeBytes);
      previous = section;
    }
    for (const section of appended(sections) as PeSection[]) {
      expect(section.virtualAddress % sectionAlignment, section.name).toBe(0);
      expect(section.characteristics, section.name).toBe(0x40000040);
    }
    expect(bytes.length).toBe((previous?.rawOffset ?? 0) + (previous?.rawSizeBytes ?? 0));
  });
});

describe("content", () => {
  it("G82: one profile, and kernel and initramfs byte for byte", async () => {
    const { sections, content, texts } = await uki({ version: "v1.14.0" });
    expect(texts(".profile")).toEqual(["ID=main"]);
    const linux = content(sections.find(({ name }) => name === ".linux"));
    expect(linux.equals(await readFile(join(shop.dir, "vmlinuz")))).toBe(true);
    const initramfs = await shop.build(bootRecipe("initramfs", { version: "v1.14.0" }), "shared");
    const initrd = content(sections.find(({ name }) => name === ".initrd"));
    expect(initrd.equals(await readFile(initramfs.product.path))).toBe(true);
  });

  it("G84: unsigned images have neither .pcrsig nor .pcrpkey", async () => {
    const { sections } = await uki();
    expect(sections.map(({ name }) => name).filter((name) => name.startsWith(".pcr"))).toEqual([]);
  });

  it("is read by objdump", async () => {
    const { path, sections } = await uki();
    const listing = await tool("objdump", "-h", path);
    for (const { name } of sections) expect(listing).toContain(name);
  });

  it("has no kernel name on arm64", async () => {
    const profile = { ...bootRecipe("uki").profile, arch: "arm64" as const };
    const { texts } = await uki({ profile });
    expect(texts(".uname")).toEqual([]);
  });

  it("refuses a stub with a symbol table and says which input is wrong", async () => {
    const stub = join(shop.dir, "systemd-stub.efi");
    const file = await open(stub, "r+");
    const { buffer } = await file.read(Buffer.alloc(4), 0, 4, 0x3c);
    const at = buffer.readUInt32LE(0) + 4 + 8;
    try {
      await file.write(Buffer.from([1, 0, 0, 0]), 0, 4, at);
      await expect(shop.build(bootRecipe("uki"))).rejects.toThrow(
        "the systemd stub of the release cannot be extended: the PE image carries COFF symbols",
      );
    } finally {
      await file.write(Buffer.alloc(4), 0, 4, at);
      await file.close();
    }
  });

  it("gives equal bytes from two empty caches", async () => {
    const [a, b] = [await shop.build(bootRecipe("uki")), await shop.build(bootRecipe("uki"))];
    expect(await sha256(a.product.path)).toBe(await sha256(b.product.path));
  });
});
