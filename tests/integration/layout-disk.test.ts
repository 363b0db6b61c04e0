/**
 * Every recorded disk image, whole: boot code, partition tables, file systems, file lists, texts, META and the unified
 * kernel image. Images for boards are compared in the same way by overlays.test.ts.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Arch } from "../../lib/domain/asset.ts";
import type { Bootloader, EnrollKeys, Recipe } from "../../lib/domain/recipe-types.ts";
import { addArmFiles } from "../fixtures/imager-arm-files.ts";
import { type BootWorkshop, bootWorkshop } from "../fixtures/imager-boot-fixture.ts";
import { diskRecipe } from "../fixtures/imager-disk-fixture.ts";
import { describeDisk } from "../fixtures/layout/disk.ts";
import { comparableDisks } from "../fixtures/layout/expected-disk.ts";
import { RECORDED_DISKS } from "../fixtures/layout/recorded.ts";
import { testKeys } from "../fixtures/secure-boot.ts";

const signer = await testKeys();
let shop: BootWorkshop;
let scratch: string;

beforeAll(async () => {
  shop = await bootWorkshop(signer.keys);
  await addArmFiles(shop);
  scratch = await mkdtemp(join(tmpdir(), "layout-disk-"));
}, 400_000);
afterAll(async () => {
  await shop?.close();
  await rm(scratch, { recursive: true, force: true });
});

/** What the name of an entry asks for: "v1.13.0 metal amd64 secureboot enroll force". */
function recipeOf(name: string, diskBytes: number, sectorSize: number): Recipe {
  const [version = "", platform = "", archText, ...words] = name.split(" ");
  const arch: Arch = archText === "arm64" ? "arm64" : "amd64";
  const secureboot = words.includes("secureboot");
  const old = Number(version.split(".")[1]) < 10;
  const usual: Bootloader = old ? "grub" : arch === "arm64" ? "sd-boot" : "dual-boot";
  const chosen = (["grub", "sd-boot"] as const).find((one) => words.includes(one));
  const enrollKeys = (["force", "off"] as const).find((one): one is EnrollKeys & ("force" | "off") =>
    words.includes(one),
  );
  const base = diskRecipe();
  return {
    ...base,
    version,
    profile: { ...base.profile, platform, arch, secureboot },
    bootloader: secureboot ? "sd-boot" : (chosen ?? usual),
    sectorSize,
    diskSizeBytes: diskBytes,
    enrollKeys: enrollKeys ?? "if-safe",
    extraKernelArgs: words.includes("grub") ? ['a="x y"', "c=$d&e;{f}|g<h>\\i"] : [],
    meta: words.includes("META")
      ? [
          { key: 0xa, value: '{"externalIPs":["1.2.3.4"]}' },
          { key: 0xc, value: "x" },
        ]
      : [],
    ...(secureboot ? { signing: signer.keys.identity } : {}),
  };
}

const CASES = Object.entries(RECORDED_DISKS).filter(([name]) => !name.includes(" overlay "));

it("come in nineteen, two of them for boards", () => {
  expect([Object.keys(RECORDED_DISKS).length, CASES.length]).toEqual([19, 17]);
});

it.each(CASES)("%s is as recorded in every field", async (name, recorded) => {
  const { diskBytes, sectorSize } = recorded;
  const { product } = await shop.build(recipeOf(name, diskBytes, sectorSize), name.split(" ")[0]);
  const ours = await describeDisk(product.path, sectorSize, scratch);
  const { expected, actual } = comparableDisks(recorded, ours);
  expect(actual).toEqual(expected);
  await rm(product.path);
});
