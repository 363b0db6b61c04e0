/** What the imager image of a release holds for one architecture: kernel, initramfs, boot manager, stub, bill of materials. */
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Arch } from "../../lib/domain/asset.ts";
import { parsePe } from "../../lib/formats/pe.ts";
import {
  carrierProgram,
  executeCall,
  loadModuleCall,
  makeFolderCall,
  openConsoleCall,
  writeFileCalls,
} from "./carrier.ts";
import { command } from "./command.ts";
import { newcArchive } from "./cpio.ts";
import type { DebianTrees } from "./debian.ts";
import { SAMPLE_EPOCH, type SampleRelease } from "./releases.ts";
import { copyOf, type Tree, text, writeTree } from "./tree.ts";

/** Modules of the stock root file system (with what they need); everything else may come from extensions. */
const MODULES = [
  "ata_generic",
  "ata_piix",
  "efivarfs",
  "isofs",
  "loop",
  "nls_ascii",
  "nls_cp437",
  "nls_iso8859-1",
  "overlay",
  "qemu_fw_cfg",
  "sd_mod",
  "sr_mod",
  "squashfs",
  "vfat",
  "virtio_blk",
  "virtio_console",
  "virtio_mmio",
  "virtio_net",
  "virtio_pci",
  "virtio_rng",
  "virtio_scsi",
  "xfs",
];
/** Loaded by /init itself, before any file system but the initramfs is there. */
const EARLY_MODULES = ["loop", "squashfs", "overlay"];

export interface KernelTree {
  arch: Arch;
  release: string;
  vmlinuz: string;
  /** Folder of /lib/modules/<release>. */
  modulesDir: string;
  /** Module name (as in its file) → path below modulesDir. */
  modules: Map<string, string>;
  /** Module name → names it needs, all levels, what is needed first first. */
  needs: Map<string, string[]>;
}

/** Reads the unpacked kernel package. */
export async function readKernel(arch: Arch, debian: DebianTrees): Promise<KernelTree> {
  const root = requirePackage(debian, "linux-image");
  const [release] = await readdir(join(root, "lib/modules"));
  if (!release) throw new Error(`Debian's kernel package for ${arch} has no modules`);
  const modulesDir = join(root, "lib/modules", release);
  await command("depmod", ["-a", "-b", root, release]);
  const modules = new Map<string, string>();
  const needs = new Map<string, string[]>();
  const nameOf = (path: string): string => basename(path, ".ko");
  for (const line of (await readFile(join(modulesDir, "modules.dep"), "utf8")).trim().split("\n")) {
    const [path = "", rest = ""] = line.split(":");
    modules.set(nameOf(path), path);
    needs.set(nameOf(path), rest.trim().split(" ").filter(Boolean).map(nameOf).reverse());
  }
  return { arch, release, vmlinuz: join(root, "boot", `vmlinuz-${release}`), modulesDir, modules, needs };
}

/** The folder a package was unpacked into. */
export function requirePackage(debian: DebianTrees, name: string): string {
  const dir = debian.packages[name];
  if (!dir) throw new Error(`package ${name} was not downloaded`);
  return dir;
}

/** Names with everything they need, in load order. */
export function withNeeds(kernel: KernelTree, names: string[]): string[] {
  return [...new Set(names.flatMap((name) => [...(kernel.needs.get(name) ?? []), name]))].filter((name) =>
    kernel.modules.has(name),
  );
}

/** True when the stock root file system has the module. */
export const isStockModule = (kernel: KernelTree, name: string): boolean =>
  withNeeds(kernel, MODULES).includes(name);

/** Bytes of one module of the kernel package. */
export async function moduleBytes(kernel: KernelTree, name: string): Promise<Buffer> {
  const path = kernel.modules.get(name);
  if (!path) throw new Error(`Debian's kernel ${kernel.release} has no module ${name}`);
  return readFile(join(kernel.modulesDir, path));
}

/** /init: loads three modules from its own image, lays out busybox and the first script, becomes that shell. */
async function initProgram(kernel: KernelTree, busybox: Buffer, script: Buffer): Promise<Buffer> {
  const early = withNeeds(kernel, EARLY_MODULES);
  const modules = await Promise.all(early.map((name) => moduleBytes(kernel, name)));
  return carrierProgram(kernel.arch, [
    makeFolderCall("/.casthouse"),
    ...writeFileCalls("/.casthouse/busybox", busybox, 0o755),
    ...writeFileCalls("/.casthouse/init.sh", script, 0o644),
    ...modules.map(loadModuleCall),
    openConsoleCall,
    executeCall(
      "/.casthouse/busybox",
      ["sh", "/.casthouse/init.sh"],
      ["PATH=/.casthouse/bin", "HOME=/", "TERM=linux"],
    ),
  ]);
}

/** Root file system of a release, without the module index that depmod writes afterwards. */
async function rootTree(
  kernel: KernelTree,
  release: SampleRelease,
  busybox: Buffer,
  padding: Uint8Array | null,
): Promise<Tree> {
  const version = release.tag.slice(1);
  const merged = release.libraryFolder === "usr/lib";
  const tree: Tree = new Map();
  tree.set("usr/bin/busybox", { bytes: busybox, mode: 0o755 });
  tree.set("bin", { symlink: "usr/bin" });
  tree.set("usr/bin/sh", { symlink: "busybox" });
  tree.set("sbin/init", await copyOf(guest("machine.sh"), 0o755));
  tree.set(
    "etc/os-release",
    text(
      `NAME="Talos"\nID=talos\nVERSION_ID=v${version}\nPRETTY_NAME="Talos (v${version})"\nVARIANT="Casthouse sample, not Talos Linux"\n`,
    ),
  );
  for (const folder of [
    "dev",
    "proc",
    "sys",
    "run",
    "tmp",
    `${release.libraryFolder}/firmware`,
    "usr/local",
  ]) {
    tree.set(folder, { folder: true });
  }
  if (merged) tree.set("lib", { symlink: "usr/lib" });
  const modules = `${release.libraryFolder}/modules/${kernel.release}`;
  for (const name of withNeeds(kernel, MODULES)) {
    tree.set(`${modules}/${kernel.modules.get(name)}`, { bytes: await moduleBytes(kernel, name) });
  }
  for (const list of ["modules.order", "modules.builtin", "modules.builtin.modinfo"]) {
    tree.set(`${modules}/${list}`, await copyOf(join(kernel.modulesDir, list)));
  }
  if (padding) tree.set("usr/share/casthouse/padding", { bytes: padding });
  return tree;
}

const guest = (name: string): string => join(import.meta.dirname, "guest", name);

/** The stock initramfs: newc, zstd, holding exactly ".", "init" and "rootfs.sqsh". */
export async function buildInitramfs(
  kernel: KernelTree,
  debian: DebianTrees,
  release: SampleRelease,
  workDir: string,
  padding: Uint8Array | null = null,
): Promise<Buffer> {
  const dir = join(workDir, `rootfs-${release.tag}-${kernel.arch}`);
  await rm(dir, { recursive: true, force: true });
  const busybox = await readFile(join(requirePackage(debian, "busybox-static"), "bin/busybox"));
  await writeTree(join(dir, "root"), await rootTree(kernel, release, busybox, padding));
  const base = release.libraryFolder === "usr/lib" ? join(dir, "root/usr") : join(dir, "root");
  await writeFile(join(dir, "depmod.conf"), "search extras built-in\n");
  await command("depmod", ["--all", "--basedir", base, "--config", join(dir, "depmod.conf"), kernel.release]);
  const image = join(dir, "rootfs.sqsh");
  await command(
    "mksquashfs",
    [
      join(dir, "root"),
      image,
      "-all-root",
      "-noappend",
      "-no-progress",
      "-quiet",
      "-comp",
      "zstd",
      "-Xcompression-level",
      "12",
    ],
    { env: { SOURCE_DATE_EPOCH: String(SAMPLE_EPOCH) } },
  );
  const archive = newcArchive(
    [
      {
        name: "init",
        mode: 0o755,
        bytes: await initProgram(kernel, busybox, await readFile(guest("init.sh"))),
      },
      { name: "rootfs.sqsh", mode: 0o644, bytes: await readFile(image) },
    ],
    SAMPLE_EPOCH,
  );
  await writeFile(join(dir, "initramfs.cpio"), archive);
  await command("zstd", ["-q", "-f", "-9", "-T1", join(dir, "initramfs.cpio"), "-o", join(dir, "initramfs")]);
  const bytes = await readFile(join(dir, "initramfs"));
  await rm(dir, { recursive: true, force: true });
  return bytes;
}

/** Boot manager and stub of Debian's systemd, the stub without its COFF symbol table. */
export async function bootFiles(arch: Arch, debian: DebianTrees): Promise<{ boot: Buffer; stub: Buffer }> {
  const dir = join(requirePackage(debian, "systemd-boot-efi"), "usr/lib/systemd/boot/efi");
  const suffix = arch === "amd64" ? "x64" : "aa64";
  const stub = await readFile(join(dir, `linux${suffix}.efi.stub`));
  return {
    boot: withoutSymbols(await readFile(join(dir, `systemd-boot${suffix}.efi`))),
    stub: withoutSymbols(stub),
  };
}

/** A PE file without COFF symbols and string table: they must be the last thing in it. Others stay as they are. */
export function withoutSymbols(pe: Buffer): Buffer {
  const image = parsePe(pe);
  if (!image.hasSymbols) return pe;
  const end = Math.max(...image.sections.map((section) => section.rawOffset + section.rawSizeBytes));
  const pointer = image.signatureOffset + 12;
  if (pe.readUInt32LE(pointer) < end) throw new Error("the symbol table lies between the sections");
  const stripped = Buffer.from(pe.subarray(0, end));
  stripped.fill(0, pointer, pointer + 8);
  return stripped;
}
