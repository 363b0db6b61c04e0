/** Boots a machine in QEMU from one of our images and gives what it said on the serial line. */
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Arch } from "../../lib/domain/asset.ts";
import { isKvmUsable } from "./kvm.ts";
import { machineArgs, missingPackages, qemuProgram } from "./machine.ts";
import { parseSampleMarkers, type SampleMarkers } from "./markers.ts";
import { type BootMedium, mediumArgs } from "./media.ts";
import { type EmulatedTpm, startTpm } from "./tpm.ts";

export type { BootMedium } from "./media.ts";

export interface BootOptions {
  medium: BootMedium;
  /** Default: amd64. */
  arch?: Arch;
  /** "auto" takes KVM when it runs a small guest in time (kvm.ts). */
  accelerator?: "auto" | "kvm" | "tcg";
  /** Default 120 s with KVM, 300 s without. */
  timeoutMs?: number;
  memoryMiB?: number;
  /**
   * File of the firmware's variables on a machine with Secure Boot (amd64: q35 with system management mode). It is used
   * itself, so that keys enrolled in one boot are there in the next. Default: no Secure Boot, empty variables.
   */
  secureVars?: string;
  /** Gives the machine a new TPM 2.0. */
  tpm?: boolean;
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
  arch: Arch;
  accelerator: "kvm" | "tcg";
  /** From the start of QEMU to its end. */
  durationMs: number;
  timedOut: boolean;
  /** Last words of QEMU itself. */
  qemuErrors: string;
}

/** Boots, waits for power-off, the last marker or the time limit, and always ends QEMU. */
export async function bootInQemu(options: BootOptions): Promise<BootResult> {
  const { medium, arch = "amd64", secureVars } = options;
  const accelerator = await chooseAccelerator(arch, options.accelerator ?? "auto");
  const dir = await mkdtemp(join(tmpdir(), "casthouse-qemu-"));
  let tpm: EmulatedTpm | null = null;
  try {
    if (options.tpm) tpm = await startTpm(dir);
    const machine = { accelerator, memoryMiB: options.memoryMiB ?? 1024, secure: secureVars !== undefined };
    const args = [
      ...machineArgs(arch, machine),
      ...(await mediumArgs(medium, { arch, dir, ...(secureVars === undefined ? {} : { secureVars }) })),
      ...(tpm?.args ?? []),
      ...(options.extraArgs ?? []),
    ];
    return await runQemu(args, arch, accelerator, options);
  } finally {
    tpm?.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

async function chooseAccelerator(arch: Arch, wish: "auto" | "kvm" | "tcg"): Promise<"kvm" | "tcg"> {
  if (wish !== "auto") return wish;
  // KVM runs guests of the host's own architecture; what is asked here is whether it runs those of amd64 in time.
  return arch === "amd64" && (await isKvmUsable()) ? "kvm" : "tcg";
}

function runQemu(
  args: string[],
  arch: Arch,
  accelerator: "kvm" | "tcg",
  options: BootOptions,
): Promise<BootResult> {
  const program = qemuProgram(arch);
  const started = Date.now();
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
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
      const packages = missingPackages(arch).join(" ") || "all are installed";
      reject(new Error(`${basename(program)} could not be started; Debian packages: ${packages}`, { cause }));
    });
    child.on("close", () => {
      settle();
      const markers = parseSampleMarkers(Buffer.from(serial, "latin1").toString("utf8"));
      const durationMs = Date.now() - started;
      resolve({ serial, markers, ok: markers.ok, arch, accelerator, durationMs, timedOut, qemuErrors });
    });
  });
}
