import { createHash, createPublicKey, verify } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Recipe } from "../../lib/domain/recipe-types.ts";
import { authPayload } from "../../lib/formats/efi-auth.ts";
import { readSignatureLists } from "../../lib/formats/efi-signature-list.ts";
import { parsePe } from "../../lib/formats/pe.ts";
import {
  type BootWorkshop,
  bootRecipe,
  bootWorkshop,
  sha256,
  tool,
} from "../fixtures/imager-boot-fixture.ts";
import { diskRecipe } from "../fixtures/imager-disk-fixture.ts";
import { type TestKeys, testKeys } from "../fixtures/secure-boot.ts";
import { vectorFile } from "../fixtures/vector-files.ts";

interface RecordedUki {
  certificateTable: { offset: number; size: number };
  checkSum: number;
  sections: { name: string; text?: string }[];
}
interface RecordedDisk {
  partitions: { name: string; fat?: { files: { path: string; text?: string }[] } }[];
  uki?: RecordedUki;
}
const recorded = vectorFile<{
  uki: Record<string, RecordedUki>;
  iso: Record<string, { uki: RecordedUki }>;
  disk: Record<string, RecordedDisk>;
}>("layout.json");

let mine: TestKeys;
let other: TestKeys;
let shop: BootWorkshop;
beforeAll(async () => {
  [mine, other] = [await testKeys(), await testKeys()];
  shop = await bootWorkshop(mine.keys);
});
afterAll(() => shop?.close());

const secure = (kind: "uki" | "iso", changes: Partial<Recipe> = {}): Recipe =>
  bootRecipe(kind, {
    profile: { ...bootRecipe(kind).profile, secureboot: true },
    ...(kind === "iso" ? { bootloader: "sd-boot" } : {}),
    signing: mine.keys.identity,
    ...changes,
  });

const secureDisk = (changes: Partial<Recipe> = {}): Recipe =>
  diskRecipe({
    profile: { ...diskRecipe().profile, secureboot: true },
    bootloader: "sd-boot",
    diskSizeBytes: 2_355_101_696,
    signing: mine.keys.identity,
    ...changes,
  });

const build = async (recipe: Recipe): Promise<string> => (await shop.build(recipe, "shared")).product.path;

async function verifies(program: string, { files }: TestKeys): Promise<boolean> {
  return await tool("sbverify", "--cert", files.signingCertificate, program).then(
    (text) => text.includes("Signature verification OK"),
    () => false,
  );
}

/** Sections that are not of the stub, without the picture that we leave out. */
const appendedNames = (sections: { name: string }[]): string[] =>
  sections
    .slice(sections.findIndex(({ name }) => name === ".osrel"))
    .map(({ name }) => name)
    .filter((name) => name !== ".splash");

interface Section {
  name: string;
  content: Buffer;
}

async function sectionsIn(path: string): Promise<Section[]> {
  const bytes = await readFile(path);
  return parsePe(bytes).sections.map(({ name, rawOffset, virtualSize }) => ({
    name,
    content: bytes.subarray(rawOffset, rawOffset + virtualSize),
  }));
}

/** PCR 11 policy of one profile, worked out from the finished file without our own code. */
function policyOf(sections: Section[], profile: number, bank: string): string {
  const starts = sections.flatMap(({ name }, index) => (name === ".profile" ? [index] : []));
  const base = sections.slice(0, starts[0] ?? sections.length);
  const own = starts.length === 0 ? [] : sections.slice(starts[profile], starts[profile + 1]);
  const measured = new Map([...base, ...own].map(({ name, content }) => [name, content]));
  const hash = (...parts: (Buffer | string)[]) => {
    const state = createHash(bank);
    for (const part of parts) state.update(part);
    return state.digest();
  };
  let register = Buffer.alloc(hash("").length);
  for (const name of ".linux .osrel .cmdline .initrd .ucode .splash .dtb .uname .sbat .pcrpkey .profile".split(
    " ",
  )) {
    const content = measured.get(name);
    if (!content) continue;
    register = hash(register, hash(`${name}\0`));
    register = hash(register, hash(content));
  }
  for (const phase of ["enter-initrd", "leave-initrd", "enter-machined"])
    register = hash(register, hash(phase));
  const algorithm = { sha256: "000b", sha384: "000c", sha512: "000d" }[bank] ?? "";
  const selection = Buffer.from(`0000017f00000001${algorithm}03000800`, "hex");
  const digest = createHash("sha256").update(register).digest();
  return createHash("sha256").update(Buffer.alloc(32)).update(selection).update(digest).digest("hex");
}

type PcrSignatures = Record<string, { pcrs: number[]; pkfp: string; pol: string; sig: string }[]>;

function expectSignedMeasurements(sections: Section[], profiles: number): void {
  const publicKey = createPublicKey(String(sections.find(({ name }) => name === ".pcrpkey")?.content));
  const texts = sections.filter(({ name }) => name === ".pcrsig").map(({ content }) => content.toString());
  expect(texts).toHaveLength(profiles);
  for (const [profile, text] of texts.entries()) {
    const banks: PcrSignatures = JSON.parse(text);
    expect(Object.keys(banks)).toEqual(["sha256", "sha384", "sha512"]);
    expect(JSON.stringify(banks)).toBe(text);
    for (const [bank, entries] of Object.entries(banks)) {
      expect(entries).toHaveLength(1);
      const [entry] = entries;
      expect(Object.keys(entry ?? {})).toEqual(["pcrs", "pkfp", "pol", "sig"]);
      expect(entry?.pcrs).toEqual([11]);
      expect(entry?.pol, `${bank} of profile ${profile}`).toBe(policyOf(sections, profile, bank));
      const pkcs1 = publicKey.export({ type: "pkcs1", format: "der" });
      expect(entry?.pkfp).toBe(createHash("sha256").update(pkcs1).digest("hex"));
      const policy = Buffer.from(entry?.pol ?? "", "hex");
      expect(verify(bank, policy, publicKey, Buffer.from(entry?.sig ?? "", "base64"))).toBe(true);
    }
  }
}

describe.each(["v1.9.5", "v1.13.0"])("SecureBoot UKI of %s", (version) => {
  const want = recorded.uki[`${version} metal-amd64-secureboot-uki.efi`];

  it("has the recorded sections in order and the recorded texts", async () => {
    const sections = await sectionsIn(await build(secure("uki", { version })));
    const names = appendedNames(want?.sections ?? []);
    expect(names).toContain(".pcrpkey");
    expect(appendedNames(sections)).toEqual(names);
    for (const name of [".osrel", ".cmdline", ".profile"]) {
      const texts = (list: { name: string; text?: string | undefined }[]) =>
        list.filter((section) => section.name === name).map(({ text }) => text);
      const own = sections.map((section) => ({ name: section.name, text: section.content.toString() }));
      expect(texts(own), name).toEqual(texts(want?.sections ?? []));
    }
    expect(sections.find(({ name }) => name === ".pcrpkey")?.content.length).toBe(451);
    expect(sections.find(({ name }) => name === ".pcrsig")?.content.length).toBe(1576);
  });

  it("verifies with the factory's certificate and with no other", async () => {
    const path = await build(secure("uki", { version }));
    expect(await verifies(path, mine)).toBe(true);
    expect(await verifies(path, other)).toBe(false);
    const text = await tool("sh", "-c", `sbverify --list "$0" 2>&1`, path);
    expect(text).not.toContain("warning");
  });

  it("carries the measurements it will have, signed", async () => {
    expectSignedMeasurements(await sectionsIn(await build(secure("uki", { version }))), 1);
  });

  it("has a certificate table at its end and no checksum, as recorded", async () => {
    const bytes = await readFile(await build(secure("uki", { version })));
    const optional = bytes.readUInt32LE(0x3c) + 24;
    const [offset, size] = [bytes.readUInt32LE(optional + 144), bytes.readUInt32LE(optional + 148)];
    expect(offset + size).toBe(bytes.length);
    expect(offset % 8).toBe(0);
    expect(bytes.readUInt32LE(optional + 64)).toBe(want?.checkSum);
  });
});

describe("SecureBoot ISO", () => {
  const extract = async (iso: string, path: string, name: string): Promise<string> => {
    const out = join(shop.dir, name);
    await tool("sh", "-c", `xorriso -indev "$0" -osirrox on -extract "$1" "$2" 2>/dev/null`, iso, path, out);
    return out;
  };

  it("G84: has two profiles in its UKI, each with its own signed measurements right behind it", async () => {
    const iso = await build(secure("iso"));
    const uki = await extract(iso, "/EFI/Linux/Talos-v1.13.0.efi", "iso-uki.efi");
    const sections = await sectionsIn(uki);
    expect(appendedNames(sections)).toEqual(
      appendedNames(recorded.iso["v1.13.0 metal-amd64-secureboot.iso"]?.uki.sections ?? []),
    );
    expect(appendedNames(sections).slice(-5)).toEqual([
      ".profile",
      ".pcrsig",
      ".profile",
      ".cmdline",
      ".pcrsig",
    ]);
    expectSignedMeasurements(sections, 2);
    expect(await verifies(uki, mine)).toBe(true);
  });

  it("has a signed systemd-boot and the certificate", async () => {
    const iso = await build(secure("iso"));
    const loader = await extract(iso, "/EFI/BOOT/BOOTX64.EFI", "iso-loader.efi");
    expect(await verifies(loader, mine)).toBe(true);
    expect(await verifies(loader, other)).toBe(false);
    const certificate = await readFile(await extract(iso, "/EFI/keys/uki-signing-cert.der", "iso-cert.der"));
    expect(new Uint8Array(certificate)).toEqual(mine.keys.certificate);
  });

  it.each([
    [false, { PK: 1, KEK: 1, db: 1 }],
    [true, { PK: 1, KEK: 3, db: 4 }],
  ])(
    "enrolls its own key, with well-known certificates: %s",
    async (includeWellKnownCertificates, counts) => {
      const iso = await build(secure("iso", { includeWellKnownCertificates }));
      for (const [name, count] of Object.entries(counts)) {
        const file = await extract(iso, `/loader/keys/auto/${name}.auth`, `${name}-${count}.auth`);
        const entries = readSignatureLists(authPayload(new Uint8Array(await readFile(file))));
        expect(entries, name).toHaveLength(count);
        expect(entries[0]?.certificate).toEqual(mine.keys.certificate);
      }
    },
  );

  it.each(["if-safe", "manual", "force", "off"] as const)("says %s in loader.conf", async (enrollKeys) => {
    const file = await extract(
      await build(secure("iso", { enrollKeys })),
      "/loader/loader.conf",
      `conf-${enrollKeys}`,
    );
    expect(await readFile(file, "utf8")).toBe(
      `# systemd-boot configuration\n\ntimeout 10\n\nsecure-boot-enroll ${enrollKeys}\n`,
    );
  });
});

describe("SecureBoot disk", () => {
  it.each([
    ["v1.13.0 metal amd64 secureboot", {}],
    ["v1.13.0 metal amd64 secureboot enroll force", { enrollKeys: "force" }],
    ["v1.13.0 metal amd64 secureboot enroll off", { enrollKeys: "off" }],
    ["v1.9.5 metal amd64 secureboot", { version: "v1.9.5", diskSizeBytes: 1_306_525_696 }],
  ] satisfies [string, Partial<Recipe>][])(
    "%s has the recorded partitions and files",
    async (name, changes) => {
      const want = recorded.disk[name];
      const disk = await build(secureDisk(changes));
      const table = await tool("sgdisk", "-p", disk);
      const labels = [...table.matchAll(/^ +\d+ +\d+ +\d+ .* {2}(\S+)$/gm)].map(([, label]) => label);
      expect(labels).toEqual(want?.partitions.map((partition) => partition.name));
      const image = `${disk}@@1M`;
      const listed = (await tool("mdir", "-i", image, "-/", "-b", "::"))
        .trim()
        .split("\n")
        .map((path) => path.replace("::/", ""));
      const files = want?.partitions[0]?.fat?.files ?? [];
      expect(listed.sort()).toEqual(files.map(({ path }) => path).sort());
      const conf = files.find(({ path }) => path === "loader/loader.conf")?.text;
      expect(await tool("mtype", "-i", image, "::/loader/loader.conf")).toBe(conf);
    },
  );

  it("holds a signed loader and a signed UKI with both profiles", async () => {
    const image = `${await build(secureDisk())}@@1M`;
    const [loader, uki] = [join(shop.dir, "disk-loader.efi"), join(shop.dir, "disk-uki.efi")];
    await tool("mcopy", "-n", "-i", image, "::/EFI/boot/BOOTX64.efi", loader);
    await tool("mcopy", "-n", "-i", image, "::/EFI/Linux/Talos-v1.13.0.efi", uki);
    expect([await verifies(loader, mine), await verifies(uki, mine)]).toEqual([true, true]);
    expectSignedMeasurements(await sectionsIn(uki), 2);
  });
});

describe("the same plan", () => {
  it("gives equal bytes from two empty caches", async () => {
    for (const recipe of [secure("uki"), secure("iso"), secureDisk()]) {
      const [a, b] = [await shop.build(recipe), await shop.build(recipe)];
      expect(await sha256(a.product.path), recipe.profile.kind).toBe(await sha256(b.product.path));
    }
  });

  it("is refused by a worker with other keys, or without any", async () => {
    const strangers = await bootWorkshop(other.keys);
    const keyless = await bootWorkshop();
    try {
      await expect(strangers.build(secure("uki"))).rejects.toThrow(
        "this worker has other SecureBoot keys than the process that planned the build",
      );
      await expect(keyless.build(secure("iso"))).rejects.toThrow("this worker has no SecureBoot keys");
    } finally {
      await strangers.close();
      await keyless.close();
    }
  });
});
