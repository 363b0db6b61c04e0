import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Recipe } from "../../lib/domain/recipe-types.ts";
import {
  type BootWorkshop,
  bootRecipe,
  bootWorkshop,
  sha256,
  tool,
} from "../fixtures/imager-boot-fixture.ts";
import { testKeys } from "../fixtures/secure-boot.ts";

const signer = await testKeys();
const secure: Partial<Recipe> = {
  profile: { ...bootRecipe("iso").profile, secureboot: true },
  signing: signer.keys.identity,
  bootloader: "sd-boot",
};

let shop: BootWorkshop;
beforeAll(async () => {
  shop = await bootWorkshop(signer.keys);
});
afterAll(() => shop?.close());

const CASES: [name: string, changes: Partial<Recipe>][] = [
  ["v1.9.5 metal-amd64.iso", { version: "v1.9.5", bootloader: null }],
  ["v1.10.4 metal-amd64.iso", { version: "v1.10.4", bootloader: null }],
  ["v1.13.0 metal-amd64.iso", { version: "v1.13.0" }],
  ["v1.14.0-beta.1 metal-amd64.iso", { version: "v1.14.0-beta.1" }],
  [
    "v1.13.0 metal-arm64.iso",
    { bootloader: "sd-boot", profile: { ...bootRecipe("iso").profile, arch: "arm64" } },
  ],
  ["v1.13.0 metal-amd64.iso bootloader sd-boot", { bootloader: "sd-boot" }],
  ["v1.9.5 metal-amd64-secureboot.iso", { ...secure, version: "v1.9.5", bootloader: null }],
  ["v1.13.0 metal-amd64-secureboot.iso", secure],
  [
    "v1.13.0 metal-amd64.iso bootloader grub",
    { bootloader: "grub", extraKernelArgs: ['a="x y"', "c=$d&e;{f}|g<h>\\i"] },
  ],
];

const report = (iso: string, ...args: string[]) =>
  tool("sh", "-c", `xorriso -indev "$0" "$@" 2>/dev/null`, iso, ...args);

async function lines(iso: string, ...args: string[]): Promise<string[]> {
  return (await report(iso, ...args))
    .trim()
    .split("\n")
    .map((line) => line.trimEnd())
    .filter(Boolean);
}

/** "mode path" of everything but GRUB's own modules. */
const plainFiles = (list: string[]) =>
  list
    .map((line) => `${line.slice(0, 10)} ${/'(.*)'$/.exec(line)?.[1] ?? ""}`)
    .filter((line) => !/\/boot\/grub\/[^/]+\/.|arm64-efi|\.disk_label/.test(line))
    .sort();

async function esp(iso: string): Promise<string> {
  const [, start = "0", sectors = "0"] =
    /(?:GPT start and size : +2|MBR partition +: +2 +0x00 +0xef) +(\d+) +(\d+)/.exec(
      await report(iso, "-report_system_area", "plain"),
    ) ?? [];
  const bytes = (await readFile(iso)).subarray(Number(start) * 512, (Number(start) + Number(sectors)) * 512);
  const path = join(shop.dir, "esp.img");
  await writeFile(path, bytes);
  return path;
}

/** What ISO images hold is compared with the recorded ones in layout-iso.test.ts. */
describe.each(CASES)("%s", (name, changes) => {
  // ISOs of GRUB alone carry no system partition of ours.
  const withEsp = /v1\.9\.5 metal-amd64\.iso|bootloader grub/.test(name) ? null : it;
  withEsp?.("has an ESP without damage, whose random seed is read-only", async () => {
    const { product } = await shop.build(bootRecipe("iso", changes), "shared");
    const image = await esp(product.path);
    expect(await tool("fsck.fat", "-n", image)).toContain("files");
    expect(await tool("mattrib", "-i", image, "::/loader/random-seed")).toMatch(/^ *A? *R/);
  });

  it("gives equal bytes from two empty caches", async () => {
    const recipe = bootRecipe("iso", changes);
    const [a, b] = [await shop.build(recipe), await shop.build(recipe)];
    expect(await sha256(a.product.path)).toBe(await sha256(b.product.path));
  });
});

describe("files inside", () => {
  it("holds the kernel and the initramfs that are also assets", async () => {
    const { product } = await shop.build(bootRecipe("iso"), "shared");
    const initramfs = await shop.build(bootRecipe("initramfs"), "shared");
    const out = join(shop.dir, "extracted");
    await report(product.path, "-osirrox", "on", "-extract", "/boot", out);
    expect(await sha256(join(out, "vmlinuz"))).toBe(await sha256(join(shop.dir, "vmlinuz")));
    expect(await sha256(join(out, "initramfs.xz"))).toBe(await sha256(initramfs.product.path));
  });

  it("G93: an ISO for UEFI alone has no boot folder, and 32 zero bytes as random seed", async () => {
    const { product } = await shop.build(bootRecipe("iso", { bootloader: "sd-boot" }), "shared");
    const paths = plainFiles(await lines(product.path, "-find", "/", "-exec", "lsdl")).map((line) =>
      line.slice(11),
    );
    expect(paths.filter((path) => path.startsWith("/boot/") || path === "/efiboot.img")).toEqual([]);
    const out = join(shop.dir, "seed");
    await report(product.path, "-osirrox", "on", "-extract", "/loader/random-seed", out);
    expect(await readFile(out)).toEqual(Buffer.alloc(32));
  });

  it("writes the arguments of the schematic into menu and UKI, quoted for GRUB", async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the dollar sign is the point
    const argument = "talos.config=http://h/?u=${uuid}&m=1";
    const { product } = await shop.build(bootRecipe("iso", { extraKernelArgs: [argument] }), "shared");
    const out = join(shop.dir, "menu");
    await report(product.path, "-osirrox", "on", "-extract", "/boot/grub/grub.cfg", out);
    expect(await readFile(out, "utf8")).toContain("talos.config=http://h/?u=\\$\\{uuid\\}\\&m=1\n");
  });
});
