/** Boots a machine in QEMU from one of our images and gives what it said on the serial line. */
import { spawn } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isKvmUsable } from "./kvm.ts";
import { parseSampleMarkers, type SampleMarkers } from "./markers.ts";

export type BootMedium =
  | { kind: "kernel"; kernel: string; initramfs: string; cmdline: string; firmware?: "bios" | "uefi" }
  | { kind: "iso"; path: string; firmware: "bios" | "uefi" }
  /** A raw disk; it is opened through a temporary overlay and never written. */
  | { kind: "disk"; path: string; format?: "raw" | "qcow2"; firmware: "bios" | "uefi" }
  /** An EFI program (a UKI) started by the firmware from a virtual FAT disk. */
  | { kind: "efi"; path: string }
  /** iPXE chains the address, fetched through the user-mode network (host = 10.0.2.2). */
  | { kind: "ipxe"; url: string };

export interface BootOptions {
  medium: BootMedium;
  /** "auto" takes KVM when it runs a small guest in time (kvm.ts). */
  accelerator?: "auto" | "kvm" | "tcg";
  /** Default 120 s with KVM, 300 s without. */
  timeoutMs?: number;
  memoryMiB?: number;
  /**
   * File of OVMF variables of a machine with Secure Boot (q35 with system management mode). It is used itself, so that
   * keys enrolled in one boot are there in the next. Default: a machine without Secure Boot and with empty variables.
   */
  secureVars?: string;
  /** End the machine when the serial text holds this. */
  stopAt?: string;
  /** Extra arguments for QEMU. */
  extraArgs?: string[];
  signal?: AbortSignal;
}

export interface BootResult {
  /** All text of the first serial port. */
  serial: string;
  markers: SampleMarkers;
  /** True when the sample system reached its last marker. */
  ok: boolean;
  accelerator: "kvm" | "tcg";
  /** From the start of QEMU to its end. */
  durationMs: number;
  timedOut: boolean;
  /** Last words of QEMU itself. */
  qemuErrors: string;
}

/** Boots, waits for power-off, the last marker or the time limit, and always ends QEMU. */
export async function bootInQemu(options: BootOptions): Promise<BootResult> {
  const accelerator = await chooseAccelerator(options.accelerator ?? "auto");
  const dir = await mkdtemp(join(tmpdir(), "casthouse-qemu-"));
  try {
    const args = [
      ...machineArgs(accelerator, options),
      ...(await mediumArgs(options, dir)),
      ...(options.extraArgs ?? []),
    ];
    return await runQemu(args, accelerator, options);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function chooseAccelerator(wish: "auto" | "kvm" | "tcg"): Promise<"kvm" | "tcg"> {
  if (wish !== "auto") return wish;
  return (await isKvmUsable()) ? "kvm" : "tcg";
}

function machineArgs(accelerator: "kvm" | "tcg", options: BootOptions): string[] {
  return [
    ...["-machine", `pc,accel=${accelerator}`, "-cpu", "qemu64"],
    ...["-m", String(options.memoryMiB ?? 1024), "-smp", "1", "-display", "none", "-monitor", "none"],
    ...["-serial", "stdio", "-no-reboot", "-nodefaults", "-vga", "std", "-device", "virtio-rng-pci"],
  ];
}

async function mediumArgs(options: BootOptions, dir: string): Promise<string[]> {
  const { medium } = options;
  switch (medium.kind) {
    case "kernel":
      return [
        ...(medium.firmware === "uefi" ? await uefiArgs(options, dir) : []),
        ...["-kernel", medium.kernel, "-initrd", medium.initramfs, "-append", medium.cmdline, "-nic", "none"],
      ];
    case "iso":
      return [
        ...(medium.firmware === "uefi" ? await uefiArgs(options, dir) : []),
        ...[
          "-drive",
          `file=${quoted(medium.path)},format=raw,media=cdrom,readonly=on,if=ide`,
          "-boot",
          "d",
          "-nic",
          "none",
        ],
      ];
    case "disk":
      return [
        ...(medium.firmware === "uefi" ? await uefiArgs(options, dir) : []),
        ...[
          "-drive",
          `file=${quoted(medium.path)},format=${medium.format ?? "raw"},if=virtio,snapshot=on`,
          "-nic",
          "none",
        ],
      ];
    case "efi":
      return [...(await uefiArgs(options, dir)), ...(await efiProgramArgs(medium.path, dir))];
    case "ipxe":
      return ipxeArgs(medium.url, dir);
  }
}

/** Variables of a machine that has never been started: no Secure Boot keys, so the firmware is in setup mode. */
export const EMPTY_OVMF_VARS = "/usr/share/OVMF/OVMF_VARS_4M.fd";

/** QEMU reads a comma in an option value as its end unless it is doubled. */
const quoted = (path: string): string => path.replaceAll(",", ",,");

async function uefiArgs({ secureVars }: BootOptions, dir: string): Promise<string[]> {
  const vars = secureVars ?? join(dir, "vars.fd");
  if (secureVars === undefined) await copyFile(EMPTY_OVMF_VARS, vars);
  const secure = secureVars !== undefined;
  return [
    ...(secure ? ["-machine", "q35,smm=on", "-global", "driver=cfi.pflash01,property=secure,value=on"] : []),
    ...[
      "-drive",
      `if=pflash,unit=0,format=raw,readonly=on,file=/usr/share/OVMF/OVMF_CODE_4M${secure ? ".secboot" : ""}.fd`,
    ],
    ...["-drive", `if=pflash,unit=1,format=raw,file=${quoted(vars)}`],
  ];
}

async function efiProgramArgs(path: string, dir: string): Promise<string[]> {
  await mkdir(join(dir, "esp/EFI/BOOT"), { recursive: true });
  await symlink(path, join(dir, "esp/EFI/BOOT/BOOTX64.EFI"));
  return ["-drive", `if=virtio,format=raw,readonly=on,file=fat:${quoted(join(dir, "esp"))}`, "-nic", "none"];
}

async function ipxeArgs(url: string, dir: string): Promise<string[]> {
  const script = join(dir, "boot.ipxe");
  await writeFile(script, `#!ipxe\ndhcp\nchain ${url}\n`);
  return [
    ...["-kernel", "/usr/lib/ipxe/ipxe.lkrn", "-initrd", script],
    ...["-netdev", "user,id=net0", "-device", "virtio-net-pci,netdev=net0,romfile="],
  ];
}

function runQemu(args: string[], accelerator: "kvm" | "tcg", options: BootOptions): Promise<BootResult> {
  const started = Date.now();
  return new Promise((resolve, reject) => {
    const child = spawn("qemu-system-x86_64", args, { stdio: ["ignore", "pipe", "pipe"] });
    let serial = "";
    let qemuErrors = "";
    let timedOut = false;
    const kill = (): void => void child.kill("SIGKILL");
    const timeoutMs = options.timeoutMs ?? (accelerator === "kvm" ? 120_000 : 300_000);
    const limit = setTimeout(() => {
      timedOut = true;
      kill();
    }, timeoutMs);
    process.once("exit", kill);
    options.signal?.addEventListener("abort", kill, { once: true });
    child.stdout.on("data", (chunk: Buffer) => {
      serial += chunk.toString("latin1");
      // A machine that says "boot ok" and then stays up has told all it knows.
      if (options.stopAt !== undefined && serial.includes(options.stopAt)) kill();
      if (serial.includes("casthouse-sample: boot ok") && serial.includes("casthouse.stay")) kill();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      qemuErrors = (qemuErrors + chunk.toString()).slice(-4096);
    });
    const settle = (): void => {
      clearTimeout(limit);
      process.removeListener("exit", kill);
      options.signal?.removeEventListener("abort", kill);
    };
    child.on("error", (cause) => {
      settle();
      reject(
        new Error("qemu-system-x86_64 could not be started (Debian package qemu-system-x86)", { cause }),
      );
    });
    child.on("close", () => {
      settle();
      const markers = parseSampleMarkers(Buffer.from(serial, "latin1").toString("utf8"));
      const durationMs = Date.now() - started;
      resolve({ serial, markers, ok: markers.ok, accelerator, durationMs, timedOut, qemuErrors });
    });
  });
}
