/** Images for boards: what an overlay's program says and does reaches the image, and only where it may. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, open, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { Recipe } from "../../lib/domain/recipe-types.ts";
import { parsePe } from "../../lib/formats/pe.ts";
import { planAsset } from "../../lib/imager/plan.ts";
import { scriptProgram } from "../../scripts/sample-release/carrier.ts";
import { ensureSampleRelease } from "../../scripts/sample-release/index.ts";
import { type BootWorkshop, bootRecipe, bootWorkshop, sha256 } from "../fixtures/imager-boot-fixture.ts";
import { diskRecipe } from "../fixtures/imager-disk-fixture.ts";
import { describeDisk } from "../fixtures/layout/disk.ts";
import { comparableDisks } from "../fixtures/layout/expected-disk.ts";
import { RECORDED_DISKS } from "../fixtures/layout/recorded.ts";

const MIB = 1024 * 1024;
const SECTOR = 512;
const here = process.arch === "arm64" ? "arm64" : "amd64";
const busybox = readFileSync("/bin/busybox");
const tool = (name: string, ...args: string[]): string =>
  execFileSync(name, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

let shop: BootWorkshop;
let grubFolder: string;

beforeAll(async () => {
  await ensureSampleRelease();
  grubFolder = join(
    import.meta.dirname,
    "../../.cache/sample-release/debian/unpacked/arm64/grub-efi-arm64-bin/usr/lib/grub/arm64-efi",
  );
  shop = await bootWorkshop();
  shop.addFolder("usr/lib/grub/arm64-efi", grubFolder);
}, 400_000);
afterAll(() => shop?.close());

interface TestBoard {
  kernelArgs?: string[];
  offset?: number;
  /** Shell lines for "install"; $disk, $boot and $artifacts are set, $input holds the document. */
  install?: string;
  artifacts?: Record<string, string | Buffer>;
  /** Replaces the answer to "get-options". */
  answer?: string;
}

/** Publishes an overlay whose program is a shell script in a static ELF file, and gives the recipe's part. */
async function board(name: string, facts: TestBoard, options: Record<string, unknown> = {}) {
  const { kernelArgs = [], offset = 0, install = "", artifacts = {} } = facts;
  const answer =
    facts.answer ??
    [
      "name: x",
      "kernelArgs:",
      ...kernelArgs.map((one) => `  - ${one}`),
      "partitionOptions:",
      `  offset: ${offset}`,
    ].join("\n");
  const script = `set -e
input=$(cat)
value() { printf '%s\\n' "$input" | sed -n "s/^ *$1: //p"; }
case "$1" in
  get-options) cat <<'END'
${answer}
END
    ;;
  install)
    disk=$(value installDisk); boot=$(value mountPrefix)/boot/EFI; artifacts=$(value artifactsPath)
    ${install} ;;
esac`;
  const files = Object.entries(artifacts).map(([path, content]) => [`artifacts/${path}`, content]);
  await shop.addExtension(name, {
    [`installers/${name}`]: scriptProgram(here, busybox, name, script),
    ...Object.fromEntries(files),
  });
  const entry = { name, image: `siderolabs/${name}`, ref: name, digest: `sha256:${name}` };
  return { entry, options } satisfies Recipe["overlay"];
}

const metal = { platform: "metal", arch: "arm64", secureboot: false, outFormat: "raw" } as const;
function boardDisk(overlay: Recipe["overlay"], changes: Partial<Recipe> = {}): Recipe {
  return diskRecipe({
    profile: {
      ...metal,
      kind: "image",
      disk: { format: "raw", sizeBytes: 1_306_525_696, formatOptions: "" },
    },
    bootloader: "grub",
    diskSizeBytes: 2_355_101_696,
    overlay,
    ...changes,
  });
}

const build = async (recipe: Recipe, cache?: string): Promise<string> =>
  (await shop.build(recipe, cache)).product.path;

async function bytesAt(path: string, offset: number, length: number): Promise<Buffer> {
  const file = await open(path, "r");
  const bytes = Buffer.alloc(length);
  await file.read(bytes, 0, length, offset);
  await file.close();
  return bytes;
}

interface Table {
  entriesLba: number;
  firstUsable: number;
  lastUsable: number;
  partitions: { name: string; firstLBA: number; lastLBA: number }[];
}

async function tableOf(disk: string): Promise<Table> {
  const header = await bytesAt(disk, SECTOR, 92);
  const entriesLba = Number(header.readBigUInt64LE(72));
  const entries = await bytesAt(disk, entriesLba * SECTOR, 128 * 128);
  const partitions = [];
  for (let at = 0; at < entries.length; at += 128) {
    const firstLBA = Number(entries.readBigUInt64LE(at + 32));
    const lastLBA = Number(entries.readBigUInt64LE(at + 40));
    const name = entries.toString("utf16le", at + 56, at + 128).replace(/\0+$/, "");
    if (firstLBA > 0) partitions.push({ name, firstLBA, lastLBA });
  }
  return {
    entriesLba,
    firstUsable: Number(header.readBigUInt64LE(40)),
    lastUsable: Number(header.readBigUInt64LE(48)),
    partitions,
  };
}

/** Copies a partition out of the disk. */
async function partitionOf(disk: string, name: string): Promise<string> {
  const found = (await tableOf(disk)).partitions.find((partition) => partition.name === name);
  if (!found) throw new Error(`no partition ${name}`);
  const path = `${disk}.${name}`;
  const bytes = (sectors: number): string => String(sectors * SECTOR);
  const length = bytes(found.lastLBA - found.firstLBA + 1);
  const range = [`skip=${bytes(found.firstLBA)}`, `count=${length}`, "iflag=skip_bytes,count_bytes"];
  tool("dd", `if=${disk}`, `of=${path}`, "bs=4M", ...range, "conv=sparse", "status=none");
  return path;
}

const mapSchema = z.array(z.object({ start: z.int(), length: z.int(), data: z.boolean() }));

/** What a sparse file holds besides holes. */
async function dataOf(path: string): Promise<Buffer> {
  const map = mapSchema.parse(JSON.parse(tool("qemu-img", "map", "-f", "raw", "--output=json", path)));
  const extents = map.filter(({ data }) => data);
  return Buffer.concat(await Promise.all(extents.map(({ start, length }) => bytesAt(path, start, length))));
}

const filesOf = (esp: string): string[] =>
  tool("mdir", "-i", esp, "-b", "-/", "::").trim().split("\n").sort();

const layoutSchema = z.object({
  disk: z.record(
    z.string(),
    z.object({
      diskBytes: z.int(),
      primary: z.object({ entriesLBA: z.int(), firstUsable: z.int(), lastUsable: z.int() }),
      partitions: z.array(
        z.object({
          name: z.string(),
          firstLBA: z.int(),
          lastLBA: z.int(),
          xfs: z
            .object({ files: z.array(z.object({ path: z.string(), text: z.string().optional() })) })
            .optional(),
        }),
      ),
    }),
  ),
});
const recorded = layoutSchema.parse(JSON.parse(readFileSync("tests/vectors/data/layout.json", "utf8"))).disk;

const RPI_ARGUMENTS = [
  "console=tty0",
  "console=ttyAMA0,115200",
  "sysctl.kernel.kexec_load_disabled=1",
  "talos.dashboard.disabled=1",
];
const ROCK_ARGUMENTS = ["console=tty0", "console=ttyS2,1500000n8", ...RPI_ARGUMENTS.slice(2)];

const rpi = () =>
  board(
    "rpi_generic",
    {
      kernelArgs: RPI_ARGUMENTS,
      install: `mkdir -p "$boot"; cp -r "$artifacts"/arm64/firmware/boot/. "$boot"/; value configTxtAppend >>"$boot"/config.txt`,
      artifacts: {
        "arm64/firmware/boot/config.txt": "arm_64bit=1\nenable_uart=1\n",
        "arm64/firmware/boot/start4.elf": Buffer.alloc(50_000, "start4"),
        "arm64/firmware/boot/overlays/disable-bt.dtbo": Buffer.alloc(1000, "dtbo"),
      },
    },
    { configTxtAppend: "a=1" },
  );
const LOADER = Buffer.from("U-Boot of the test board ".repeat(40_000));
const rock = () =>
  board("rock4cplus", {
    kernelArgs: ROCK_ARGUMENTS,
    offset: 20_480,
    install: `
      dd if="$artifacts"/arm64/u-boot/loader.bin of="$disk" bs=512 seek=64 conv=notrunc 2>/dev/null
      mkdir -m 0600 "$boot"/dtb; mkdir -m 0600 "$boot"/dtb/rockchip
      cp "$artifacts"/arm64/dtb/rockchip/rk3399-rock-4c-plus.dtb "$boot"/dtb/rockchip/`,
    artifacts: {
      "arm64/u-boot/loader.bin": LOADER,
      "arm64/dtb/rockchip/rk3399-rock-4c-plus.dtb": Buffer.alloc(20_000, "dtb"),
    },
  });

describe.each([
  {
    key: "v1.13.0 metal arm64 overlay rpi_generic",
    version: "v1.13.0",
    make: rpi,
    files: ["::/config.txt", "::/overlays/", "::/overlays/disable-bt.dtbo", "::/start4.elf"],
  },
  {
    key: "v1.9.5 metal arm64 overlay rock4cplus",
    version: "v1.9.5",
    make: rock,
    files: ["::/dtb/", "::/dtb/rockchip/", "::/dtb/rockchip/rk3399-rock-4c-plus.dtb"],
  },
])("the disk $key", ({ key, version, make, files }) => {
  const reference = recorded[key];
  let disk: string;
  beforeAll(async () => {
    disk = await build(boardDisk(await make(), { version, diskSizeBytes: reference?.diskBytes ?? 0 }));
  }, 120_000);

  it("has the recorded partition table, in which sgdisk finds no fault", async () => {
    const table = await tableOf(disk);
    expect({ ...table, partitions: [] }).toEqual({
      entriesLba: reference?.primary.entriesLBA,
      firstUsable: reference?.primary.firstUsable,
      lastUsable: reference?.primary.lastUsable,
      partitions: [],
    });
    expect(table.partitions).toEqual(
      reference?.partitions.map(({ name, firstLBA, lastLBA }) => ({ name, firstLBA, lastLBA })),
    );
    expect(tool("sgdisk", "-v", disk)).toContain("No problems found");
    expect((await stat(disk)).size).toBe(reference?.diskBytes);
  });

  it("is as recorded in every field, but for where the board's files are", async () => {
    const ours = await describeDisk(disk, SECTOR, shop.dir);
    const { expected, actual } = comparableDisks(RECORDED_DISKS[key] ?? { partitions: [] }, ours);
    expect(actual).toEqual(expected);
  });

  it("has the board's files at the top of the EFI system partition, beside GRUB", async () => {
    const esp = await partitionOf(disk, "EFI");
    tool("fsck.fat", "-n", esp);
    expect(filesOf(esp)).toEqual(["::/EFI/", "::/EFI/boot/", "::/EFI/boot/BOOTAA64.efi", ...files].sort());
    const grub = `${esp}.efi`;
    tool("mcopy", "-n", "-i", esp, "::/EFI/boot/BOOTAA64.efi", grub);
    // COFF machine type of AArch64.
    expect((await readFile(grub)).readUInt16LE((await readFile(grub)).readUInt32LE(0x3c) + 4)).toBe(0xaa64);
  });

  it("has the recorded GRUB menu, with the board's arguments", async () => {
    const text = reference?.partitions
      .flatMap(({ xfs }) => xfs?.files ?? [])
      .find(({ path }) => path === "/grub/grub.cfg")?.text;
    expect(text).toContain("sysctl.kernel.kexec_load_disabled=1");
    // The file is shorter than a block of the file system, so it lies in one piece.
    const boot = await dataOf(await partitionOf(disk, "BOOT"));
    expect(boot.includes(Buffer.from(`${text}\0`))).toBe(true);
  });

  it("has equal bytes when it is built again with nothing kept", async () => {
    const again = await build(boardDisk(await make(), { version, diskSizeBytes: reference?.diskBytes ?? 0 }));
    expect(again).not.toBe(disk);
    expect(tool("qemu-img", "compare", "-f", "raw", "-F", "raw", disk, again)).toContain("identical");
  });
});

describe("what programs write", () => {
  it("G99: with an offset of 20480 the table moves, and the boot loader at 32 KiB survives", async () => {
    const disk = await build(boardDisk(await rock()));
    const { entriesLba, partitions } = await tableOf(disk);
    expect(entriesLba).toBe(20_482);
    expect(partitions).toEqual([
      { name: "EFI", firstLBA: 22_528, lastLBA: 227_327 },
      { name: "BIOS", firstLBA: 227_328, lastLBA: 229_375 },
      { name: "BOOT", firstLBA: 229_376, lastLBA: 4_325_375 },
      { name: "META", firstLBA: 4_325_376, lastLBA: 4_327_423 },
    ]);
    expect(LOADER.equals(await bytesAt(disk, 32 * 1024, LOADER.length))).toBe(true);
  }, 60_000);

  it("reaches config.txt with the options of the schematic", async () => {
    const esp = await partitionOf(await build(boardDisk(await rpi())), "EFI");
    expect(tool("mtype", "-i", esp, "::/config.txt")).toBe("arm_64bit=1\nenable_uart=1\na=1\n");
  }, 60_000);

  it.each([
    [
      "over a partition",
      0,
      "dd if=/dev/zero bs=1 count=1 2>/dev/null | tr '\\0' x | dd of=$disk bs=1 seek=1048576 conv=notrunc 2>/dev/null",
      /where the partitions must be/,
    ],
    [
      "over the header",
      0,
      "echo x | dd of=$disk bs=512 seek=1 conv=notrunc 2>/dev/null",
      /the header of the partition table/,
    ],
    [
      "over the entries",
      2048,
      "echo x | dd of=$disk bs=512 seek=2050 conv=notrunc 2>/dev/null",
      /where the partition table must be/,
    ],
    ["another disk", 0, "rm $disk; ln -s /etc/shadow $disk", /replaced the disk by something else/],
    ["a shorter disk", 0, ": >$disk", /changed the size of the disk to 0 bytes/],
    ["links out of its folder", 0, "ln -s /etc/shadow $boot/config.txt", /points to nothing|the link/],
    ["a pipe", 0, "mkfifo $boot/pipe", /neither a file|no plain file|pipe/],
    ["a name FAT cannot hold", 0, "echo >$boot/'a:b'", /a file named "a:b"/],
    ["names that differ in case only", 0, "echo >$boot/a; echo >$boot/A", /has both/],
    [
      "more than fits",
      0,
      "for n in 1 2 3; do dd if=/dev/zero of=$boot/$n bs=1M count=40 2>/dev/null; done",
      /120 MiB of boot files for a partition of 100 MiB/,
    ],
  ])(
    "is refused: %s",
    async (name, offset, install, words) => {
      const overlay = await board(`bad-${name.replaceAll(" ", "-")}`, { offset, install });
      await expect(build(boardDisk(overlay))).rejects.toThrow(words);
    },
    60_000,
  );

  it("a board's file replaces ours of the same name", async () => {
    const overlay = await board("own-loader", {
      install: "mkdir -p $boot/efi/BOOT; echo mine >$boot/efi/BOOT/bootaa64.EFI",
    });
    const esp = await partitionOf(await build(boardDisk(overlay)), "EFI");
    expect(filesOf(esp)).toEqual(["::/efi/", "::/efi/BOOT/", "::/efi/BOOT/bootaa64.EFI"]);
  }, 60_000);

  it("fails in the program's own words, with the name of the step", async () => {
    const overlay = await board("failing", { install: "echo 'no such board revision' >&2; exit 7" });
    await expect(build(boardDisk(overlay))).rejects.toMatchObject({
      code: "tool_failed",
      message:
        "the program of the board overlay failing (install) ended with exit code 7: no such board revision",
      extra: { details: { phase: "bootloader", exitCode: 7 } },
    });
    const silent = await board("unreadable", { answer: "kernelArgs: 5" });
    await expect(build(boardDisk(silent))).rejects.toMatchObject({ code: "source_invalid" });
    await expect(
      build(boardDisk({ entry: { ...overlay.entry, name: "other" }, options: {} })),
    ).rejects.toMatchObject({ code: "not_found" });
  }, 60_000);
});

/** Content of the first section of that name. */
async function sectionOf(file: string, name: string): Promise<string> {
  const bytes = await readFile(file);
  const found = parsePe(bytes).sections.find((section) => section.name === name);
  return found ? bytes.toString("utf8", found.rawOffset, found.rawOffset + found.virtualSize) : "";
}

describe("command lines", () => {
  const DEFAULTS_114 =
    "slab_nomerge pti=on consoleblank=0 printk.devkmsg=on selinux=1 module.sig_enforce=1 proc_mem.force_override=never";
  const RPI_TAIL = "sysctl.kernel.kexec_load_disabled=1 talos.dashboard.disabled=1";

  it("G43: a disk image takes the board's arguments in place of the platform's", async () => {
    const recipe = boardDisk(await rpi(), { version: "v1.14.0" });
    const { events } = await shop.build(recipe);
    expect(events).toContainEqual({
      type: "log",
      line: `kernel command line: talos.platform=metal console=tty0 console=ttyAMA0,115200 ${RPI_TAIL} ${DEFAULTS_114}`,
    });
  }, 60_000);

  it("G44: so does an ISO, behind talos.halt_if_installed", async () => {
    const recipe = bootRecipe("iso", {
      version: "v1.14.0",
      profile: { ...metal, kind: "iso" },
      bootloader: "sd-boot",
      overlay: await rpi(),
    });
    const { events } = await shop.build(recipe);
    expect(events).toContainEqual({
      type: "log",
      line: `kernel command line: talos.platform=metal console=tty0 console=ttyAMA0,115200 talos.halt_if_installed=1 ${RPI_TAIL} ${DEFAULTS_114}`,
    });
  }, 60_000);

  it("G45: values of one key stand together, whatever the board's order", async () => {
    const kernelArgs = [
      "cma=128MB",
      "console=tty0",
      "console=ttyS9,115200",
      "console=ttyS2,115200",
      ...RPI_ARGUMENTS.slice(2),
    ];
    const uki = await build(
      bootRecipe("uki", {
        version: "v1.13.2",
        profile: { ...metal, kind: "uki" },
        overlay: await board("cma", { kernelArgs }),
        extraKernelArgs: ["-cma", "cma=64MB"],
      }),
    );
    expect(await sectionOf(uki, ".cmdline")).toBe(
      "talos.platform=metal console=tty0 console=ttyS9,115200 console=ttyS2,115200 sysctl.kernel.kexec_load_disabled=1 talos.dashboard.disabled=1 init_on_alloc=1 slab_nomerge pti=on consoleblank=0 nvme_core.io_timeout=4294967295 printk.devkmsg=on selinux=1 module.sig_enforce=1 proc_mem.force_override=never cma=64MB",
    );
    const plain = await shop.build(boardDisk(await board("cma", { kernelArgs }), { version: "v1.13.2" }));
    expect(plain.events).toContainEqual({
      type: "log",
      line: "kernel command line: talos.platform=metal console=tty0 console=ttyS9,115200 console=ttyS2,115200 cma=128MB sysctl.kernel.kexec_load_disabled=1 talos.dashboard.disabled=1 init_on_alloc=1 slab_nomerge pti=on consoleblank=0 nvme_core.io_timeout=4294967295 printk.devkmsg=on selinux=1 module.sig_enforce=1 proc_mem.force_override=never",
    });
  }, 60_000);

  it("an ISO of an older release boots with GRUB for arm64 and the board's arguments", async () => {
    const recipe = bootRecipe("iso", {
      version: "v1.9.5",
      profile: { ...metal, kind: "iso" },
      bootloader: null,
      overlay: await rpi(),
    });
    const iso = await build(recipe);
    const report = tool(
      "xorriso",
      "-indev",
      iso,
      "-report_el_torito",
      "plain",
      "-find",
      "/",
      "-maxdepth",
      "3",
    );
    expect(report).toMatch(/El Torito boot img : +1 +UEFI/);
    expect(report).not.toMatch(/BIOS/);
    expect(report).toContain("/boot/grub/arm64-efi");
    expect(report).not.toContain("i386-pc");
    expect(await sha256(iso)).toBe(await sha256(await build(recipe)));
    const folder = `${iso}.efi`;
    await mkdir(folder);
    tool(
      "xorriso",
      "-osirrox",
      "on",
      "-indev",
      iso,
      "-extract",
      "/efi.img",
      join(folder, "efi.img"),
      "-extract",
      "/boot/grub/grub.cfg",
      join(folder, "grub.cfg"),
    );
    expect(filesOf(join(folder, "efi.img"))).toContain("::/efi/boot/bootaa64.efi");
    expect(await readFile(join(folder, "grub.cfg"), "utf8")).toContain(
      "console=tty0 console=ttyAMA0,115200 talos.halt_if_installed=1",
    );
  }, 60_000);
});

describe("parts", () => {
  it("the program is asked once for all files of a schematic, and again for other options", async () => {
    const asked = async (recipe: Recipe) =>
      (await shop.build(recipe, "shared")).events.some(
        (event) => event.type === "phase" && event.title.startsWith("Ask the overlay") && !event.cached,
      );
    const overlay = await board("asked-once", { kernelArgs: RPI_ARGUMENTS });
    const uki = (changes: Partial<Recipe>) =>
      bootRecipe("uki", { profile: { ...metal, kind: "uki" }, overlay, ...changes });
    expect(await asked(uki({}))).toBe(true);
    expect(await asked(uki({ extraKernelArgs: ["nosmt"] }))).toBe(false);
    expect(await asked(uki({ overlay: { ...overlay, options: { a: "b" } } }))).toBe(true);
  }, 60_000);

  it("without GRUB in release and machine the answer names the package", async () => {
    const bare = await bootWorkshop();
    try {
      const recipe = boardDisk(null);
      expect(planAsset(recipe).inputs.map(({ id }) => id)).toContain("grub-modules-arm64-efi");
      await expect(bare.build(recipe)).rejects.toMatchObject({
        code: "not_implemented",
        message: "neither the release nor this factory has GRUB for arm64-efi",
      });
    } finally {
      await bare.close();
    }
  }, 60_000);

  it("disks stay sparse", async () => {
    const { blocks } = await stat(await build(boardDisk(await rock())));
    expect(blocks * SECTOR).toBeLessThan(60 * MIB);
  }, 60_000);
});
