/**
 * Every recorded ISO image, whole: volume, El Torito, partition tables, files, texts, EFI system partition and unified
 * kernel image. Numbers that follow from sizes are replaced by N on both sides; what else differs is listed below.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Recipe } from "../../lib/domain/recipe-types.ts";
import { addArmFiles } from "../fixtures/imager-arm-files.ts";
import { type BootWorkshop, bootRecipe, bootWorkshop } from "../fixtures/imager-boot-fixture.ts";
import type { FatLayout } from "../fixtures/layout/fat.ts";
import { withOurModules } from "../fixtures/layout/grub.ts";
import { describeIso, type IsoLayout } from "../fixtures/layout/iso.ts";
import { expectedPe, type PeLayout, withOurStub } from "../fixtures/layout/pe.ts";
import { RECORDED_ISOS } from "../fixtures/layout/recorded.ts";
import { testKeys } from "../fixtures/secure-boot.ts";

const signer = await testKeys();
let shop: BootWorkshop;
let scratch: string;
beforeAll(async () => {
  shop = await bootWorkshop(signer.keys);
  await addArmFiles(shop);
  scratch = await mkdtemp(join(tmpdir(), "layout-iso-"));
}, 400_000);
afterAll(async () => {
  await shop?.close();
  await rm(scratch, { recursive: true, force: true });
});

/** What the name of an entry asks for: "v1.13.0 metal-amd64.iso bootloader grub". */
function recipeOf(name: string): Recipe {
  const [version = "", file = "", , chosen] = name.split(" ");
  const arch = file.includes("arm64") ? "arm64" : "amd64";
  const secureboot = file.includes("secureboot");
  const old = Number(version.split(".")[1]) < 12;
  const usual = arch === "arm64" || secureboot || chosen === "sd-boot" ? "sd-boot" : "dual-boot";
  const base = bootRecipe("iso");
  return {
    ...base,
    version,
    profile: { ...base.profile, arch, secureboot },
    bootloader: old ? null : chosen === "grub" ? "grub" : usual,
    extraKernelArgs: chosen !== undefined ? ['a="x y"', "c=$d&e;{f}|g<h>\\i"] : [],
    ...(secureboot ? { signing: signer.keys.identity } : {}),
  };
}

/** Blanks that xorriso puts in front of numbers go with the numbers. */
const numberless = (line: string, pattern: RegExp): string =>
  line.replace(pattern, (_all, before: string) => `${before} N`).replace(/ +/g, " ");

/** Starts, lengths and counts of blocks; what is aligned to cylinders follows from the ends of partitions. */
const sizeless = (line: string): string => {
  const line1 = line.replace(/0x00000[9b]00/, "0x0000?00").replace(/cyl-align-(on|all)/, "cyl-align");
  return [
    /^(El Torito catalog {2}:)(?: +\d+)+/,
    /^(El Torito boot img : +\d+ .* )\d+$/,
    /^(El Torito img blks : +\d+) +\d+$/,
    /^(ISO image size\/512 :) +\d+$/,
    /^(MBR partition +: +\d+ +0x00 +0x[0-9a-f]+)(?: +\d+)+$/,
    /^(GPT entry array +:)(?: +\d+)+/,
    /^(GPT lba range +:)(?: +\d+)+$/,
    /^((?:GPT|APM) start and size : +\d+)(?: +\d+)+$/,
  ].reduce(numberless, line1);
};

const mkisofsless = (line: string): string =>
  line
    .replace(/local_fs:\d+d-\d+d/, "local_fs:N")
    .replace(/start_\d+s_size_\d+d/, "start_N")
    .replace(/-partition_cyl_align (on|all)/, "-partition_cyl_align on or all")
    .replace(/'[^']*\/[^']*\.iso'|'\{ISO\}'/, "'{ISO}'");

/** Bootable flag and type; the rest are places. */
const mbrKind = (entry: string): string => `${entry.slice(0, 2)} ${entry.slice(8, 10)}`;

/** Files whose size is that of an input, or follows from one. */
const OTHER_SIZE =
  /(vmlinuz|initramfs\.xz|\.auth|signing-cert\.der|Talos-[^/]*\.efi|BOOT(X64|AA64)\.EFI|efi\.img|boot\.efi|boot(x64|aa64)\.efi|SystemVersion\.plist|disk_label.*)$/i;

const fileLine = (line: string): string => {
  const [, before = "", , path = ""] = /^(\S+ 1 0 0) (\d+) .*'(.*)'$/.exec(line) ?? [];
  const rest = line.slice(before.length);
  return OTHER_SIZE.test(path) ? `${before} N${rest.replace(/^ \d+/, "")}` : line;
};

/** Pictures for old Macs and GRUB of other architectures are left out (docs/compat.md, F8 and F9). */
const LEFT_OUT = /\.disk_label|bootaa64\.efi|\/boot\/grub\/arm64-efi'/;

/** The partition is as large as the files need, at least 33 MiB (docs/compat.md, F10), and its geometry follows. */
const GEOMETRY = ["totalSectors", "sectorsPerFat", "sectorsPerCluster", "sectorsPerTrack", "heads"];

function fat(layout: FatLayout, forget: string[]): FatLayout {
  const kept = Object.entries(layout).filter(([field]) => !forget.includes(field));
  return {
    ...Object.fromEntries(kept),
    files: layout.files
      .filter(({ path }) => !LEFT_OUT.test(path))
      .map((file) => (OTHER_SIZE.test(file.path) ? { ...file, size: 0 } : file)),
    listing: layout.listing
      .filter((line) => !/^bootaa64/.test(line))
      .map((line) => line.replace(/ +\d+(?= \d{4}-)/, " N")),
  };
}

function comparable(layout: IsoLayout, uki: PeLayout | undefined): unknown {
  const { fileBytes: _size, pvd, grubPlatformFiles, esp, ...rest } = layout;
  const { blocks: _blocks, ...volume } = pvd;
  // Names the program and its libraries with their versions.
  const preparer = String(pvd.preparer).replace(/\d[\d.]*/g, "N");
  const { "arm64-efi": _others, ...platforms } = grubPlatformFiles;
  return {
    ...rest,
    pvd: { ...volume, preparer },
    grubPlatformFiles: platforms,
    elTorito: layout.elTorito.map(sizeless),
    elToritoAsMkisofs: layout.elToritoAsMkisofs.map(mkisofsless),
    systemArea: layout.systemArea.map(sizeless),
    mbrEntries: layout.mbrEntries.map(mbrKind),
    files: layout.files.filter((line) => !LEFT_OUT.test(line)).map(fileLine),
    ...(uki && { uki }),
    ...(esp && { esp: fat(esp, GEOMETRY) }),
    ...(layout["efi.img"] && {
      // Another program makes it, there with a serial number by chance (docs/compat.md, F8).
      "efi.img": fat(layout["efi.img"], [
        "volumeId12",
        "oem",
        "rootEntries",
        "totalSectors",
        "sectorsPerFat16",
        "sectorsPerCluster",
      ]),
    }),
  };
}

it("come in nine", () => expect(Object.keys(RECORDED_ISOS)).toHaveLength(9));

it.each(Object.entries(RECORDED_ISOS))("%s is as recorded in every field", async (name, recorded) => {
  const { product } = await shop.build(recipeOf(name), name.split(" ")[0]);
  const ours = describeIso(product.path, scratch);
  const uki = recorded.uki && ours.uki && expectedPe(withOurStub(recorded.uki, ours.uki), ours.uki);
  const known = { ...recorded, grubPlatformFiles: withOurModules(recorded.grubPlatformFiles) };
  expect(comparable(ours, ours.uki)).toEqual(comparable(known, uki));
  await rm(product.path);
});
