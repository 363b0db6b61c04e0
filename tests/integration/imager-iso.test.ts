import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Recipe } from "../../lib/domain/recipe-types.ts";
import { testKeys } from "../fixtures/secure-boot.ts";
import { vectorFile } from "../fixtures/vector-files.ts";
import { type BootWorkshop, bootRecipe, bootWorkshop, sha256, tool } from "./imager-boot-fixture.ts";

interface RecordedIso {
  pvd: { volumeId: string; volumeSetId: string; created: string; modified: string };
  elTorito: string[];
  systemArea: string[];
  files: string[];
  texts: Record<string, string>;
  grubPlatformFiles: Record<string, number>;
  esp?: {
    oem: string;
    sectorsPerCluster: number;
    label: string;
    type: string;
    volumeId: string;
    files: { path: string; attrib?: string; text?: string }[];
  };
}
const recordedIsos = vectorFile<{ iso: Record<string, RecordedIso> }>("layout.json").iso;

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

/**
 * A report with every number that follows from sizes replaced. xorriso guesses the cylinder alignment from the ends of
 * the partitions, so "on" and "all" depend on sizes too.
 */
const shape = (lines: string[]) =>
  lines
    .filter(
      (line) =>
        !/^(El Torito catalog|ISO image size|El Torito img blks|GPT lba range|MBR partition {2}|APM )/.test(
          line,
        ),
    )
    .map((line) =>
      line
        .replace(/(start and size : +\d+).*/, "$1 sizes")
        .replace(/^(GPT entry array .*?) +\d+ +\d+ +/, "$1 "),
    )
    .map((line) =>
      line
        .replace(/^(El Torito boot img .*?)(\d+)$/, "$1LBA")
        .replace(/cyl-align-(on|all)/, "cyl-align")
        .replace(/0x00000[9b]00/, "0x0000?00")
        .replace(/\s+/g, " ")
        .trim(),
    );

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

describe.each(CASES)("%s", (name, changes) => {
  const recorded = recordedIsos[name];
  const build = async () => (await shop.build(bootRecipe("iso", changes), "shared")).product.path;
  const secured = name.includes("arm64") ? "BOOTAA64.EFI" : "BOOTX64.EFI";

  it("has the recorded El Torito entries and partitions", async () => {
    const iso = await build();
    expect(shape(await lines(iso, "-report_el_torito", "plain"))).toEqual(shape(recorded?.elTorito ?? []));
    expect(shape(await lines(iso, "-report_system_area", "plain"))).toEqual(
      shape(recorded?.systemArea ?? []),
    );
  });

  it("has the recorded files with their permissions", async () => {
    const list = await lines(await build(), "-find", "/", "-exec", "lsdl");
    expect(plainFiles(list)).toEqual(plainFiles(recorded?.files ?? []));
    for (const [platform, count] of Object.entries(recorded?.grubPlatformFiles ?? {})) {
      if (platform === "arm64-efi") continue;
      expect(list.filter((line) => line.includes(`/boot/grub/${platform}/`)).length, platform).toBe(count);
    }
  });

  it("has the recorded names and dates", async () => {
    const info = await report(await build(), "-pvd_info");
    const field = (label: string) => new RegExp(`^${label} *: (.*)$`, "m").exec(info)?.[1]?.trim();
    expect(field("Volume Id")).toBe(recorded?.pvd.volumeId);
    expect(field("Volume Set Id")).toBe(recorded?.pvd.volumeSetId);
    expect(field("Creation Time")).toBe(recorded?.pvd.created);
  });

  it("has the recorded texts", async () => {
    const iso = await build();
    for (const [path, text] of Object.entries(recorded?.texts ?? {})) {
      const out = join(
        shop.dir,
        `text-${path.replaceAll("/", "-")}-${createHash("sha256").update(name).digest("hex").slice(0, 8)}`,
      );
      await report(iso, "-osirrox", "on", "-extract", `/${path}`, out);
      expect(await readFile(out, "utf8"), path).toBe(text);
    }
  });

  // ISOs of GRUB alone carry no system partition of ours, and none was recorded.
  const withEsp = recorded?.esp ? it : null;
  withEsp?.("has a clean ESP with the recorded files, attributes and texts", async () => {
    const image = await esp(await build());
    expect(await tool("fsck.fat", "-n", image)).toContain("files");
    const listed = (await tool("sh", "-c", `mdir -i ${image} -/ -b ::`))
      .trim()
      .split("\n")
      .map((path) => path.replace("::/", ""))
      .sort();
    expect(listed).toEqual(recorded?.esp?.files.map(({ path }) => path).sort());
    expect(await tool("mattrib", "-i", image, "::/loader/random-seed")).toMatch(/^ *A? *R/);
    expect(await tool("mtype", "-i", image, "::/loader/loader.conf")).toBe(
      recorded?.esp?.files.find(({ path }) => path === "loader/loader.conf")?.text,
    );
    expect(listed).toContain(`EFI/BOOT/${secured}`);
    const boot = await readFile(image);
    expect(boot.subarray(3, 11).toString()).toBe(recorded?.esp?.oem);
    expect(boot.readUInt32LE(67).toString(16)).toBe(recorded?.esp?.volumeId);
    expect(boot.subarray(71, 82).toString()).toBe(recorded?.esp?.label);
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
