/** Disk images made with the real tools: structure, contents, determinism, and every compression. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream, readFileSync } from "node:fs";
import { mkdir, mkdtemp, open, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { DiskProfile, OutFormat } from "../../lib/domain/asset.ts";
import type { Recipe } from "../../lib/domain/recipe-types.ts";
import { createRunTool } from "../../lib/exec/run.ts";
import { grubCore } from "../../lib/imager/steps/grub-core.ts";
import type { Product, StepFunction } from "../../lib/imager/types.ts";
import {
  type DiskWorkshop,
  diskPlan,
  diskRecipe,
  diskWorkshop,
  smallInputs,
} from "../fixtures/imager-disk-fixture.ts";
import { withOurChunks } from "../fixtures/layout/xfs.ts";

const tool = (name: string, ...args: string[]): string =>
  execFileSync(name, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
/** Fails when two raw images differ in content; holes are not read. */
const sameImage = (left: string, right: string): string =>
  tool("qemu-img", "compare", "-f", "raw", "-F", "raw", left, right);
const shell = (script: string): string =>
  execFileSync("bash", ["-o", "pipefail", "-c", script], { encoding: "utf8" });

async function sha256(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest("hex");
}

async function bytesAt(path: string, offset: number, length: number): Promise<Buffer> {
  const file = await open(path, "r");
  try {
    const bytes = Buffer.alloc(length);
    await file.read(bytes, 0, length, offset);
    return bytes;
  } finally {
    await file.close();
  }
}

/** Stand for the steps of other areas: the UKI is stub, kernel and initramfs, each on a sector. */
const uki: StepFunction = async (_params, needs, ctx) => {
  const path = join(ctx.dir, "uki.efi");
  const files = needs.map((need) => need.path);
  shell(
    `for f in ${files.join(" ")}; do cat $f; head -c $(( (512 - $(stat -c %s $f) % 512) % 512 )) /dev/zero; done > ${path}`,
  );
  return { path, shape: "file" };
};
const first: StepFunction = async (_params, needs) => needs[0] ?? { path: "/dev/null", shape: "file" };
const nothing: StepFunction = async () => ({ path: "/dev/null", shape: "file" });
const OTHER_STEPS = { uki, initramfs: first, "module-index": nothing, "schematic-extension": nothing };

const DISKS = {
  "v1.9.5": diskRecipe({ version: "v1.9.5", bootloader: "grub", diskSizeBytes: 1_306_525_696 }),
  "v1.13.0": diskRecipe(),
  "v1.14.0-beta.1": diskRecipe({ version: "v1.14.0-beta.1" }),
};
const withProfile = (recipe: Recipe, profile: Partial<Recipe["profile"]>): Recipe => ({
  ...recipe,
  profile: { ...recipe.profile, ...profile },
});

const fatSchema = z.object({
  bytesPerSector: z.int(),
  sectorsPerCluster: z.int(),
  reservedSectors: z.int(),
  totalSectors: z.int(),
  sectorsPerFat: z.int(),
  volumeId: z.string(),
  label: z.string(),
});
const xfsSchema = z.object({ superblock: z.record(z.string(), z.string()) });
const layoutSchema = z.object({
  disk: z.record(
    z.string(),
    z.object({
      partitions: z.array(
        z.object({ name: z.string(), fat: fatSchema.optional(), xfs: xfsSchema.optional() }),
      ),
    }),
  ),
});
const known = layoutSchema.parse(JSON.parse(readFileSync("tests/vectors/data/layout.json", "utf8"))).disk;
const knownPartition = (version: string, name: string) =>
  known[`${version} metal amd64`]?.partitions.find((partition) => partition.name === name);

let inputs: Record<string, string>;
let inputDir: string;
let workshop: DiskWorkshop;
const produced = (products: Map<string, Product>, id: string): string => products.get(id)?.path ?? "missing";

beforeAll(async () => {
  inputDir = await mkdtemp(join(tmpdir(), "imager-disk-inputs-"));
  inputs = await smallInputs(inputDir);
  workshop = await diskWorkshop({ files: inputs, steps: OTHER_STEPS });
});
afterAll(async () => {
  await workshop.close();
  await rm(inputDir, { recursive: true, force: true });
});

describe.each(Object.entries(DISKS))("disk of %s", (version, recipe) => {
  let products: Map<string, Product>;
  beforeAll(async () => {
    products = await workshop.build(diskPlan(recipe));
  });

  it("has a partition table sgdisk finds no fault in, and takes little space", async () => {
    expect(tool("sgdisk", "-v", produced(products, "disk"))).toContain("No problems found");
    const { size, blocks } = await stat(produced(products, "disk"));
    expect(size).toBe(recipe.diskSizeBytes);
    expect(blocks * 512).toBeLessThan(40 * 1024 * 1024);
  });

  it("has an EFI partition with the known FAT parameters and no damage", async () => {
    const path = produced(products, "esp");
    tool("fsck.fat", "-n", path);
    const boot = await bytesAt(path, 0, 512);
    expect({
      bytesPerSector: boot.readUInt16LE(11),
      sectorsPerCluster: boot.readUInt8(13),
      reservedSectors: boot.readUInt16LE(14),
      totalSectors: boot.readUInt32LE(32),
      sectorsPerFat: boot.readUInt32LE(36),
      volumeId: boot.readUInt32LE(67).toString(16),
      label: boot.toString("latin1", 71, 82),
    }).toEqual(knownPartition(version, "EFI")?.fat);
    const names = tool("mdir", "-i", path, "-b", "-/", "::").trim().split("\n");
    const wanted =
      recipe.bootloader === "grub"
        ? ["::/EFI/", "::/EFI/boot/", "::/EFI/boot/BOOTX64.efi"]
        : [
            "::/EFI/",
            "::/EFI/Linux/",
            `::/EFI/Linux/Talos-${version}.efi`,
            "::/EFI/boot/",
            "::/EFI/boot/BOOTX64.efi",
            "::/loader/",
            "::/loader/loader.conf",
          ];
    expect(names.filter((name) => !name.endsWith("/")).sort()).toEqual(
      wanted.filter((name) => !name.endsWith("/")).sort(),
    );
  });

  it("has a BOOT partition with the known XFS parameters that xfs_repair finds no fault in", () => {
    const path = produced(products, "boot");
    tool("xfs_repair", "-n", "-f", path);
    const want = knownPartition(version, "BOOT")?.xfs?.superblock ?? {};
    const lines = tool("xfs_db", "-r", "-f", "-c", "sb 0", "-c", `p ${Object.keys(want).join(" ")}`, path);
    const got = Object.fromEntries(
      lines
        .trim()
        .split("\n")
        .map((line) => line.split(" = ")),
    );
    expect(got).toEqual(withOurChunks(want, got));
  });

  it("can be read by GRUB itself: kernel, initramfs and menu", () => {
    const disk = produced(products, "disk");
    for (const [path, input] of [
      ["A/vmlinuz", "kernel"],
      ["A/initramfs.xz", "stock-initramfs"],
    ]) {
      shell(`grub-fstest -c 1 ${disk} cat '(loop0,gpt3)/${path}' | cmp - ${inputs[input ?? ""]}`);
    }
    const menu = shell(`grub-fstest -c 1 ${disk} cat '(loop0,gpt3)/grub/grub.cfg'`);
    expect(menu).toContain(`set default="A - Talos ${version}"\n`);
  });

  it("G101 points boot code at the BIOS partition", async () => {
    const disk = produced(products, "disk");
    const bios = recipe.bootloader === "grub" ? 206_848 : 4_304_896;
    const head = await bytesAt(disk, 0, 512);
    expect(head.readBigUInt64LE(0x5c)).toBe(BigInt(bios));
    expect(head.toString("hex", 0x66, 0x68)).toBe("9090");
    expect((await bytesAt(disk, bios * 512 + 0x1f4, 8)).readBigUInt64LE(0)).toBe(BigInt(bios + 1));
  });

  it("is the same when built again elsewhere", async () => {
    const again = await diskWorkshop({ files: inputs, steps: OTHER_STEPS });
    try {
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      const other = await again.build(diskPlan(recipe));
      for (const id of ["esp", "boot", "disk"]) sameImage(produced(other, id), produced(products, id));
    } finally {
      await again.close();
    }
  });
});

/** Another decoder than the program the blocks come from. */
const pythonReader = (module: "lzma" | "gzip"): string =>
  `python3 -c "import shutil,sys,${module}; shutil.copyfileobj(${module}.open(sys.stdin.buffer), sys.stdout.buffer, 1<<20)"`;

describe("compressed disks", () => {
  const recipe = DISKS["v1.9.5"];
  const build = async (outFormat: OutFormat, from = workshop) => {
    const products = await from.build(diskPlan(withProfile(recipe, { outFormat })));
    return { raw: produced(products, "disk"), file: produced(products, "packed") };
  };

  it.each<[OutFormat, string, string]>([
    [".xz", "xz -t", pythonReader("lzma")],
    [".zst", "zstd -tq", "zstd -dcq"],
    [".gz", "gzip -t", pythonReader("gzip")],
  ])(
    "%s passes its own test, unpacks to the raw disk and is made equal twice",
    async (format, check, unpack) => {
      const { raw, file } = await build(format);
      shell(`${check} < ${file}`);
      shell(`${unpack} < ${file} | cmp - ${raw}`);
      const again = await diskWorkshop({ files: inputs, steps: OTHER_STEPS });
      const other = await build(format, again);
      shell(`cmp ${other.file} ${file}`);
      await again.close();
    },
  );

  it("G111 .gz carries the name and no time", async () => {
    const { file } = await build(".gz");
    const head = await bytesAt(file, 0, 26);
    expect(head.toString("hex", 0, 10)).toBe("1f8b0808000000000003");
    expect(head.toString("latin1", 10, 26)).toBe("metal-amd64.raw\0");
  });

  it("G111 .tar.gz holds the one sparse member disk.raw of root", async () => {
    const { raw, file } = await build(".tar.gz");
    const listing = tool("tar", "tvzf", file).trim();
    expect(listing).toBe(`-rw-r--r-- 0/0      ${recipe.diskSizeBytes} 2019-06-01 21:34 disk.raw`);
    const dir = join(workshop.dir, "untar");
    await mkdir(dir);
    tool("tar", "xzf", file, "-C", dir);
    sameImage(`${dir}/disk.raw`, raw);
    expect((await bytesAt(file, 0, 10)).toString("hex")).toBe("1f8b0800000000000003");
  });

  it("reads and writes as much as there is data, not as much as the disk is large", async () => {
    const { file } = await build(".xz");
    const data = 3_000_011 + 1_500_007;
    expect((await stat(file)).size).toBeLessThan(data * 1.15 + 450_000);
  });
});

describe("other disks", () => {
  it("sd-boot with sectors of 4096 bytes", async () => {
    const recipe = diskRecipe({ bootloader: "sd-boot", sectorSize: 4096, diskSizeBytes: 2_355_101_696 });
    const products = await workshop.build(diskPlan(recipe));
    tool("fsck.fat", "-n", produced(products, "esp"));
    const header = await bytesAt(produced(products, "disk"), 4096, 92);
    expect(header.toString("latin1", 0, 8)).toBe("EFI PART");
    expect([header.readBigUInt64LE(40), header.readBigUInt64LE(48)]).toEqual([256n, 574_970n]);
  });

  it.each(["v1.9.5", "v1.13.0"])(
    "GRUB of %s with sectors of 4096 bytes has a small EFI partition that tools can read",
    async (version) => {
      const diskSizeBytes = version === "v1.9.5" ? 1_306_525_696 : 2_355_101_696;
      const recipe = diskRecipe({ version, bootloader: "grub", sectorSize: 4096, diskSizeBytes });
      const products = await workshop.build(diskPlan(recipe));
      const esp = produced(products, "esp");
      expect(tool("fsck.fat", "-n", esp)).not.toMatch(/warning/i);
      expect(tool("mdir", "-i", esp, "-b", "-/", "::")).toContain("::/EFI/boot/BOOTX64.efi");
      const boot = await bytesAt(esp, 0, 512);
      expect([boot.readUInt16LE(11), boot.toString("latin1", 54, 62)]).toEqual([4096, "FAT16   "]);
      const header = await bytesAt(produced(products, "disk"), 4096, 92);
      expect(header.toString("latin1", 0, 8)).toBe("EFI PART");
      // BOOT is the third entry: its place in bytes does not depend on the size of sectors.
      const entries = await bytesAt(produced(products, "disk"), 2 * 4096, 384);
      expect(entries.readBigUInt64LE(256 + 32) * 4096n).toBe(208_896n * 512n);
    },
  );

  it("dual-boot with sectors of 4096 bytes has an XFS of that sector size", async () => {
    const products = await workshop.build(diskPlan(diskRecipe({ sectorSize: 4096 })));
    tool("xfs_repair", "-n", "-f", produced(products, "boot"));
    expect(tool("xfs_db", "-r", "-f", "-c", "sb 0", "-c", "p sectsize", produced(products, "boot"))).toBe(
      "sectsize = 4096\n",
    );
  });

  it("vhd is the disk and a footer qemu-img accepts", async () => {
    const disk: DiskProfile = { format: "vhd", sizeBytes: 0, formatOptions: "subformat=fixed,force_size" };
    const products = await workshop.build(diskPlan(withProfile(DISKS["v1.9.5"], { disk })));
    const path = produced(products, "disk");
    expect((await stat(path)).size).toBe(1_306_525_696 + 512);
    const info = z
      .object({ "virtual-size": z.int(), format: z.string() })
      .parse(JSON.parse(tool("qemu-img", "info", "-f", "vpc", "--output=json", path)));
    expect(info).toEqual({ "virtual-size": 1_306_525_696, format: "vpc" });
  });

  it("qcow2 holds the same disk and is made equal twice", async () => {
    const disk: DiskProfile = { format: "qcow2", sizeBytes: 0, formatOptions: "cluster_size=8k" };
    const plan = diskPlan(withProfile(DISKS["v1.9.5"], { disk }));
    const products = await workshop.build(plan);
    const path = produced(products, "qcow2");
    tool("qemu-img", "check", path);
    tool("qemu-img", "compare", "-f", "raw", "-F", "qcow2", produced(products, "disk"), path);
    const other = await workshop.build(plan);
    expect(await sha256(produced(other, "qcow2"))).toBe(await sha256(path));
  });

  it("says it when neither release nor machine has GRUB's modules for a platform", async () => {
    const dir = join(workshop.dir, "arm64");
    await mkdir(dir);
    const ctx = {
      dir,
      run: createRunTool(),
      signal: new AbortController().signal,
      log: () => {},
      progress: () => {},
    };
    await expect(grubCore({ platform: "arm64-efi" }, [], ctx)).rejects.toMatchObject({
      code: "not_implemented",
      message: "neither the release nor this factory has GRUB for arm64-efi",
    });
  });
});
