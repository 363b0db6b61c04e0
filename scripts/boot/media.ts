/** What a machine is booted from, and QEMU's arguments for it. */
import { copyFile, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Arch } from "../../lib/domain/asset.ts";
import { defaultProgram, type Firmware, quoted, uefiArgs } from "./machine.ts";

export type BootMedium =
  | { kind: "kernel"; kernel: string; initramfs: string; cmdline: string; firmware?: Firmware }
  | { kind: "iso"; path: string; firmware: Firmware }
  /** A disk; it is opened through a temporary overlay and never written. */
  | { kind: "disk"; path: string; firmware: Firmware; format?: "raw" | "qcow2"; hardware?: DiskHardware }
  /** An EFI program (a UKI) started by the firmware from a virtual FAT disk. */
  | { kind: "efi"; path: string }
  /**
   * iPXE runs the lines of its script, fetched through the user-mode network (host = 10.0.2.2). By UEFI the firmware starts
   * `program`, Debian's ipxe.efi unless another one is given.
   */
  | { kind: "ipxe"; script: readonly string[]; firmware: Firmware; program?: string };

export interface DiskHardware {
  /** Default: virtio. */
  controller?: "virtio" | "nvme";
  /** Size of a logical sector. Default: 512. */
  sectorBytes?: 512 | 4096;
}

interface Surroundings {
  arch: Arch;
  /** Scratch folder of this boot. */
  dir: string;
  secureVars?: string;
}

const IPXE_EFI = "/usr/lib/ipxe/ipxe.efi";
const IPXE_BIOS = "/usr/lib/ipxe/ipxe.lkrn";

/** Firmware of the machine: given, or what the medium needs. */
export function firmwareOf(medium: BootMedium): Firmware {
  if (medium.kind === "efi") return "uefi";
  return medium.firmware ?? "bios";
}

/** Drives, devices and firmware; files that are needed for the boot only are made in the scratch folder. */
export async function mediumArgs(medium: BootMedium, around: Surroundings): Promise<string[]> {
  const uefi = firmwareOf(medium) === "uefi";
  return [
    ...(uefi ? await uefiArgs(around.arch, around.dir, around.secureVars) : []),
    ...(await driveArgs(medium, around)),
    ...(medium.kind === "ipxe" ? [] : ["-nic", "none"]),
  ];
}

async function driveArgs(medium: BootMedium, { arch, dir }: Surroundings): Promise<string[]> {
  switch (medium.kind) {
    case "kernel":
      return ["-kernel", medium.kernel, "-initrd", medium.initramfs, "-append", medium.cmdline];
    case "iso":
      return cdArgs(arch, medium.path);
    case "disk":
      return diskArgs(medium.path, medium.format ?? "raw", medium.hardware ?? {});
    case "efi":
      return efiProgramArgs(arch, medium.path, dir);
    case "ipxe":
      return ipxeArgs(medium, arch, dir);
  }
}

function cdArgs(arch: Arch, path: string): string[] {
  const drive = `file=${quoted(path)},format=raw,media=cdrom,readonly=on`;
  // Boards of arm64 have no IDE.
  if (arch === "amd64") return ["-drive", `${drive},if=ide`, "-boot", "d"];
  return ["-drive", `${drive},if=none,id=cd`, "-device", "virtio-scsi-pci", "-device", "scsi-cd,drive=cd"];
}

function diskArgs(path: string, format: string, { controller, sectorBytes }: DiskHardware): string[] {
  const device = controller === "nvme" ? "nvme,serial=casthouse" : "virtio-blk-pci";
  const sectors =
    sectorBytes === undefined ? "" : `,logical_block_size=${sectorBytes},physical_block_size=${sectorBytes}`;
  return [
    ...["-drive", `file=${quoted(path)},format=${format},if=none,id=disk,snapshot=on`],
    ...["-device", `${device},drive=disk${sectors}`],
  ];
}

async function efiProgramArgs(arch: Arch, path: string, dir: string): Promise<string[]> {
  const folder = join(dir, "esp/EFI/BOOT");
  await mkdir(folder, { recursive: true });
  await symlink(path, join(folder, defaultProgram(arch)));
  return [
    ...["-drive", `if=none,id=esp,format=raw,readonly=on,file=fat:${quoted(join(dir, "esp"))}`],
    ...["-device", "virtio-blk-pci,drive=esp,bootindex=0"],
  ];
}

async function ipxeArgs(
  medium: Extract<BootMedium, { kind: "ipxe" }>,
  arch: Arch,
  dir: string,
): Promise<string[]> {
  const network = ["-device", "virtio-net-pci,netdev=net0,romfile="];
  const script = ["#!ipxe", "dhcp", ...medium.script, ""].join("\n");
  if (medium.firmware === "bios") {
    await writeFile(join(dir, "boot.ipxe"), script);
    const program = ["-kernel", medium.program ?? IPXE_BIOS, "-initrd", join(dir, "boot.ipxe")];
    return [...program, "-netdev", "user,id=net0", ...network];
  }
  // iPXE asks DHCP what to do, and QEMU's own DHCP and TFTP servers answer with the script.
  const shared = join(dir, "tftp");
  await mkdir(shared);
  await writeFile(join(shared, "boot.ipxe"), script);
  const program = join(dir, "ipxe.efi");
  await copyFile(medium.program ?? IPXE_EFI, program);
  return [
    ...(await efiProgramArgs(arch, program, dir)),
    ...["-netdev", `user,id=net0,tftp=${quoted(shared)},bootfile=boot.ipxe`, ...network],
  ];
}
