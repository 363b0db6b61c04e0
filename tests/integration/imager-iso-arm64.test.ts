/** ISO images for arm64 where they differ from what newer releases have: hybrid ones of 1.10 and 1.11. */
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  type BootWorkshop,
  bootRecipe,
  bootWorkshop,
  sha256,
  tool,
} from "../fixtures/imager-boot-fixture.ts";

let shop: BootWorkshop;
beforeAll(async () => {
  shop = await bootWorkshop();
});
afterAll(() => shop?.close());

it("G86 the ISO of 1.11 for arm64 is hybrid: the BIOS half of PCs, systemd-boot for arm64", async () => {
  const profile = { ...bootRecipe("iso").profile, arch: "arm64" as const };
  const recipe = bootRecipe("iso", { version: "v1.11.5", bootloader: null, profile });
  const { product } = await shop.build(recipe);
  const torito = tool("xorriso", "-indev", product.path, "-report_el_torito", "plain");
  expect(await torito).toMatch(/El Torito boot img :\s+1\s+BIOS/);
  expect(await torito).toMatch(/El Torito boot img :\s+2\s+UEFI/);
  const tree = join(shop.dir, "tree");
  await mkdir(tree);
  await tool("xorriso", "-osirrox", "on", "-indev", product.path, "-extract", "/", tree);
  expect(await readdir(join(tree, "EFI/BOOT"))).toEqual(["BOOTAA64.EFI"]);
  expect(await readdir(join(tree, "EFI/Linux"))).toEqual(["Talos-v1.11.5.efi"]);
  expect((await readdir(join(tree, "boot/grub"))).filter((name) => /-/.test(name))).toEqual(["i386-pc"]);
  expect(await readFile(join(tree, "boot/grub/grub.cfg"), "utf8")).toContain("console=ttyAMA0 console=tty0");
  const again = await shop.build(recipe, "other");
  expect(await sha256(again.product.path)).toBe(await sha256(product.path));
});
