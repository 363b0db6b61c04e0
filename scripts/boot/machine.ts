/** The machines that are booted: which QEMU, which firmware, and the files of both, by architecture. */
import { existsSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import type { Arch } from "../../lib/domain/asset.ts";

export type Firmware = "bios" | "uefi";

interface Machine {
  program: string;
  /** Debian package of the program, and of the firmware. */
  packages: [string, string];
  /** Arguments without accelerator; `secure` is the machine that Secure Boot needs. */
  plain: string[];
  secure: string[];
  firmware: { plain: string; secure: string; emptyVariables: string };
  /** What firmware starts from a disk that it knows nothing of. */
  defaultProgram: string;
}

const MACHINES: Record<Arch, Machine> = {
  amd64: {
    program: "/usr/bin/qemu-system-x86_64",
    packages: ["qemu-system-x86", "ovmf"],
    plain: ["-machine", "pc", "-cpu", "qemu64", "-vga", "std"],
    // System management mode keeps the variables from the running system: only the firmware's own code may write them.
    secure: [
      ...["-machine", "q35,smm=on", "-cpu", "qemu64", "-vga", "std"],
      ...["-global", "driver=cfi.pflash01,property=secure,value=on"],
    ],
    firmware: {
      plain: "/usr/share/OVMF/OVMF_CODE_4M.fd",
      secure: "/usr/share/OVMF/OVMF_CODE_4M.secboot.fd",
      emptyVariables: "/usr/share/OVMF/OVMF_VARS_4M.fd",
    },
    defaultProgram: "BOOTX64.EFI",
  },
  arm64: {
    program: "/usr/bin/qemu-system-aarch64",
    packages: ["qemu-system-arm", "qemu-efi-aarch64"],
    plain: ["-machine", "virt", "-cpu", "cortex-a72"],
    secure: ["-machine", "virt", "-cpu", "cortex-a72"],
    firmware: {
      plain: "/usr/share/AAVMF/AAVMF_CODE.fd",
      secure: "/usr/share/AAVMF/AAVMF_CODE.fd",
      emptyVariables: "/usr/share/AAVMF/AAVMF_VARS.fd",
    },
    defaultProgram: "BOOTAA64.EFI",
  },
};

/** The program that runs machines of the architecture. */
export const qemuProgram = (arch: Arch): string => MACHINES[arch].program;

/** File name of the EFI program that firmware of the architecture starts by itself. */
export const defaultProgram = (arch: Arch): string => MACHINES[arch].defaultProgram;

/** Variables of a machine that has never been started: no Secure Boot keys, so the firmware is in setup mode. */
export const emptyVariables = (arch: Arch): string => MACHINES[arch].firmware.emptyVariables;

/** Debian packages to install before machines of the architecture can be booted; empty when all is there. */
export function missingPackages(arch: Arch): string[] {
  const { program, packages, firmware } = MACHINES[arch];
  return [program, firmware.plain].flatMap((file, at) => (existsSync(file) ? [] : [packages[at] ?? file]));
}

/** Board, processor, memory and serial line. */
export function machineArgs(
  arch: Arch,
  settings: { accelerator: "kvm" | "tcg"; memoryMiB: number; secure: boolean },
): string[] {
  const { plain, secure } = MACHINES[arch];
  return [
    ...(settings.secure ? secure : plain),
    ...["-accel", settings.accelerator, "-m", String(settings.memoryMiB), "-smp", "1"],
    ...["-display", "none", "-monitor", "none", "-serial", "stdio", "-no-reboot", "-nodefaults"],
    ...["-device", "virtio-rng-pci"],
  ];
}

/** UEFI firmware with its variables: those of `secureVars` themselves, else a copy of empty ones in `dir`. */
export async function uefiArgs(arch: Arch, dir: string, secureVars?: string): Promise<string[]> {
  const { firmware } = MACHINES[arch];
  const variables = secureVars ?? join(dir, "vars.fd");
  if (secureVars === undefined) await copyFile(firmware.emptyVariables, variables);
  const code = secureVars === undefined ? firmware.plain : firmware.secure;
  return [
    ...["-drive", `if=pflash,unit=0,format=raw,readonly=on,file=${code}`],
    ...["-drive", `if=pflash,unit=1,format=raw,file=${quoted(variables)}`],
  ];
}

/** QEMU reads a comma in an option value as its end unless it is doubled. */
export const quoted = (path: string): string => path.replaceAll(",", ",,");
