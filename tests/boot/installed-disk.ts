/** Disks laid out as an installation leaves them, from the files of an installer image, with Debian's partitioning programs. */
import { execFile } from "node:child_process";
import { mkdir, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Arch } from "../../lib/domain/asset.ts";
import { patchedBootImage, patchedCoreImage } from "../../lib/formats/grub-bios.ts";
import { parsePe } from "../../lib/formats/pe.ts";
import { defaultProgram, type Firmware } from "../../scripts/boot/machine.ts";

const execute = promisify(execFile);
const MIB = 1024 * 1024;
const SECTORS_PER_MIB = 2048;

interface Partition {
  label: string;
  /** Type code of sgdisk. */
  type: "ef00" | "ef02" | "8300";
  sizeMiB: number;
  /** Bytes of the partition; left zero without. */
  image?: string;
}

const META: Partition = { label: "META", type: "8300", sizeMiB: 1 };
const STATE: Partition = { label: "STATE", type: "8300", sizeMiB: 100 };
const EPHEMERAL: Partition = { label: "EPHEMERAL", type: "8300", sizeMiB: 100 };

/** Copies the image of one architecture from the factory's registry and unpacks it; gives the folder of its boot files. */
export async function pullInstaller(
  factory: { url: string; dataDir: string },
  { image, version, arch = "amd64" }: { image: string; version: string; arch?: Arch },
): Promise<string> {
  const dir = join(factory.dataDir, `pulled-${arch}-${version}-${image.replaceAll("/", "-")}`);
  const reference = `docker://${new URL(factory.url).host}/${image}:${version}`;
  await execute("skopeo", [
    ...["--override-arch", arch, "copy", "--quiet", "--src-tls-verify=false"],
    ...[reference, `dir:${dir}`],
  ]);
  const manifest: { layers: { digest: string }[] } = JSON.parse(
    await readFile(join(dir, "manifest.json"), "utf8"),
  );
  await mkdir(join(dir, "tree"));
  for (const { digest } of manifest.layers) {
    await execute("tar", ["-xzf", join(dir, digest.replace("sha256:", "")), "-C", join(dir, "tree")]);
  }
  return join(dir, "tree/usr/install", arch);
}

/** EFI with systemd-boot and the unified kernel image, META, STATE, EPHEMERAL. */
export async function systemdBootDisk(
  dir: string,
  files: { loader: string; uki: string; version: string; arch?: Arch },
): Promise<string> {
  const esp = await fatImage(join(dir, "EFI.img"), 300, {
    [`EFI/BOOT/${defaultProgram(files.arch ?? "amd64")}`]: files.loader,
    [`EFI/Linux/Talos-${files.version}.efi`]: files.uki,
    "loader/loader.conf": await textFile(dir, "loader.conf", "timeout 0\n"),
  });
  const efi: Partition = { label: "EFI", type: "ef00", sizeMiB: 300, image: esp };
  return writeDisk(join(dir, "installed.raw"), [efi, META, STATE, EPHEMERAL]);
}

interface GrubFiles {
  kernel: string;
  initramfs: string;
  cmdline: string;
  version: string;
}

/** EFI, BIOS, BOOT with kernel and initramfs as system A, META, STATE, EPHEMERAL; GRUB for the firmware that is to start it. */
export async function grubDisk(dir: string, files: GrubFiles, firmware: Firmware): Promise<string> {
  const boot = await bootImage(dir, files);
  const esp = firmware === "uefi" ? await fatImage(join(dir, "EFI.img"), 100, await grubProgram(dir)) : null;
  const disk = await writeDisk(join(dir, "installed.raw"), [
    { label: "EFI", type: "ef00", sizeMiB: 100, ...(esp === null ? {} : { image: esp }) },
    { label: "BIOS", type: "ef02", sizeMiB: 1 },
    { label: "BOOT", type: "8300", sizeMiB: BOOT_MIB, image: boot },
    ...[META, STATE, EPHEMERAL],
  ]);
  // BIOS lies behind the first MiB and EFI.
  if (firmware === "bios") await installBiosGrub(dir, disk, 101);
  return disk;
}

/** Kernel, initramfs and command line of a unified kernel image's first entry, which installations with GRUB take from it. */
export async function partsOfUki(dir: string, uki: string): Promise<Omit<GrubFiles, "version">> {
  const bytes = await readFile(uki);
  const { sections } = parsePe(bytes);
  const contentOf = (name: string): Buffer => {
    const section = sections.find((candidate) => candidate.name === name);
    if (!section) throw new Error(`${uki} has no section ${name}`);
    return bytes.subarray(section.rawOffset, section.rawOffset + section.virtualSize);
  };
  const kernel = join(dir, "vmlinuz");
  const initramfs = join(dir, "initramfs.xz");
  await writeFile(kernel, contentOf(".linux"));
  await writeFile(initramfs, contentOf(".initrd"));
  return { kernel, initramfs, cmdline: contentOf(".cmdline").toString() };
}

/** A sparse disk with GPT, partitions from the first MiB on. */
async function writeDisk(disk: string, partitions: readonly Partition[]): Promise<string> {
  const total = partitions.reduce((sum, { sizeMiB }) => sum + sizeMiB, 2);
  await writeFile(disk, "");
  await truncate(disk, total * MIB);
  let startMiB = 1;
  const options: string[] = [];
  for (const [at, { label, type, sizeMiB, image }] of partitions.entries()) {
    const number = at + 1;
    options.push(`--new=${number}:${startMiB * SECTORS_PER_MIB}:+${sizeMiB}M`);
    options.push(`--typecode=${number}:${type}`, `--change-name=${number}:${label}`);
    if (image) await copyInto(image, disk, startMiB);
    startMiB += sizeMiB;
  }
  await execute("sgdisk", [...options, disk]);
  return disk;
}

const copyInto = (image: string, disk: string, startMiB: number): Promise<unknown> =>
  execute("dd", [`if=${image}`, `of=${disk}`, "bs=1M", `seek=${startMiB}`, "conv=notrunc,sparse"]);

async function textFile(dir: string, name: string, content: string): Promise<string> {
  const path = join(dir, name);
  await writeFile(path, content);
  return path;
}

/** FAT32 with files by path. */
async function fatImage(image: string, sizeMiB: number, files: Record<string, string>): Promise<string> {
  await writeFile(image, "");
  await truncate(image, sizeMiB * MIB);
  await execute("mkfs.vfat", ["-F", "32", "-n", "EFI", image]);
  const folders = new Set(
    Object.keys(files).flatMap((path) => {
      const parts = path.split("/").slice(0, -1);
      return parts.map((_, at) => parts.slice(0, at + 1).join("/"));
    }),
  );
  for (const folder of folders) await execute("mmd", ["-i", image, `::${folder}`]);
  for (const [path, file] of Object.entries(files)) await execute("mcopy", ["-i", image, file, `::${path}`]);
  return image;
}

const BOOT_MIB = 400;

/** XFS with kernel and initramfs as system A, and GRUB's menu. */
async function bootImage(dir: string, { kernel, initramfs, cmdline, version }: GrubFiles): Promise<string> {
  const menu = [
    ...["set default=0", "set timeout=0", `menuentry "A - Talos ${version}" {`],
    ...[`  linux /A/vmlinuz ${cmdline}`, "  initrd /A/initramfs.xz", "}", ""],
  ];
  const config = await textFile(dir, "grub.cfg", menu.join("\n"));
  const tree = [
    ...["/", "0 0", "d--755 0 0"],
    ...["A d--755 0 0", `vmlinuz ---644 0 0 ${kernel}`, `initramfs.xz ---644 0 0 ${initramfs}`, "$"],
    ...["grub d--755 0 0", `grub.cfg ---644 0 0 ${config}`, "$", "$", ""],
  ];
  const image = join(dir, "BOOT.img");
  await writeFile(image, "");
  await truncate(image, BOOT_MIB * MIB);
  await execute("mkfs.xfs", [
    "-q",
    "-L",
    "BOOT",
    "-p",
    await textFile(dir, "boot.proto", tree.join("\n")),
    image,
  ]);
  return image;
}

const GRUB_MODULES = "part_gpt fat xfs normal configfile linux boot search search_label all_video".split(" ");

async function grubImage(
  dir: string,
  platform: "i386-pc" | "x86_64-efi",
  modules: string[],
): Promise<string> {
  const find = "search --no-floppy --set=root --label BOOT\nset prefix=($root)/grub\nnormal\n";
  const output = join(dir, `grub.${platform}`);
  await execute("grub-mkimage", [
    ...["-O", platform, "-d", `/usr/lib/grub/${platform}`, "-p", "/grub", "-o", output],
    ...["-c", await textFile(dir, "find-boot.cfg", find), ...GRUB_MODULES, ...modules],
  ]);
  return output;
}

const grubProgram = async (dir: string): Promise<Record<string, string>> => ({
  [`EFI/BOOT/${defaultProgram("amd64")}`]: await grubImage(dir, "x86_64-efi", []),
});

/** GRUB's core into the BIOS partition, its first stage in front of the partition table. */
async function installBiosGrub(dir: string, disk: string, startMiB: number): Promise<void> {
  const core = await readFile(await grubImage(dir, "i386-pc", ["biosdisk"]));
  const sector = startMiB * SECTORS_PER_MIB;
  await writeFile(join(dir, "core.img"), patchedCoreImage(core, sector));
  await copyInto(join(dir, "core.img"), disk, startMiB);
  const first = patchedBootImage(await readFile("/usr/lib/grub/i386-pc/boot.img"), sector);
  await writeFile(join(dir, "boot.img"), first.subarray(0, 440));
  await execute("dd", [`if=${join(dir, "boot.img")}`, `of=${disk}`, "bs=440", "count=1", "conv=notrunc"]);
}
