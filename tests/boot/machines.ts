/** What every boot of this tier has to show, whatever it was booted from. */
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { expect } from "vitest";
import type { Arch } from "../../lib/domain/asset.ts";
import { type BootMedium, type BootOptions, type BootResult, bootInQemu } from "../../scripts/boot/qemu.ts";
import { noteBoot } from "./noted.ts";

export const VERSION = "v1.13.2";

/** All kinds of extensions: services, a kernel module, firmware, microcode. */
export const EXTENSIONS = [
  "drbd",
  "hello-world-service",
  "i915",
  "intel-ucode",
  "iscsi-tools",
  "qemu-guest-agent",
];

/** META as a machine would need it, with a value of two lines. */
export const META = { "0xa": "addresses:\n  - 10.0.0.2/24\n", "0xc": "rack=7" };

/** Every extension, one kernel argument and META. */
export const SCHEMATIC = `customization:
  extraKernelArgs:
    - casthouse.test=1
  meta:
    - key: 0xa
      value: |
        addresses:
          - 10.0.0.2/24
    - key: 0xc
      value: rack=7
  systemExtensions:
    officialExtensions:
${EXTENSIONS.map((name) => `      - siderolabs/${name}`).join("\n")}
`;

/** Boots with KVM when it is usable, else without; keeps the serial text where a failed test can be read from. */
export async function boot(
  medium: BootMedium,
  options: Omit<BootOptions, "medium"> = {},
): Promise<BootResult> {
  const result = await bootInQemu({ medium, ...options });
  if (!result.ok) {
    const file = `/tmp/casthouse-boot-${process.pid}.log`;
    await writeFile(file, `${result.qemuErrors}\n${result.serial}`);
    throw new Error(
      `the machine did not reach "boot ok" in ${result.durationMs} ms (${result.accelerator}); serial text in ${file}\n${result.markers.failure ?? ""}`,
    );
  }
  await noteBoot(medium, result);
  return result;
}

/** Holds the marker block against the schematic above; microcode and graphics are for one architecture only. */
export function expectEverything(
  { markers }: BootResult,
  id: string,
  { arch = "amd64", version = VERSION }: { arch?: Arch; version?: string } = {},
): void {
  expect(markers.version).toBe(version);
  expect(markers.machine).toBe(arch === "amd64" ? "x86_64" : "aarch64");
  expect(markers.schematic).toBe(id);
  expect(markers.extensions.map(({ name }) => name)).toEqual([...EXTENSIONS, "schematic", "modules.dep"]);
  const withFiles = markers.files.filter(({ sizeBytes }) => sizeBytes > 0).map(({ extension }) => extension);
  expect(withFiles).toEqual(
    expect.arrayContaining(["drbd", "hello-world-service", "iscsi-tools", "qemu-guest-agent"]),
  );
  expect(markers.files.every(({ sha256 }) => /^[0-9a-f]{64}$/.test(sha256))).toBe(true);
  expect(markers.modules).toContainEqual({ name: "drbd", loaded: true });
  const firmware = `/${version === "v1.9.5" ? "" : "usr/"}lib/firmware/i915/kbl_dmc_ver1_04.bin`;
  expect(markers.firmware.map(({ path }) => path)).toContain(firmware);
  expect(markers.microcode.map(({ path }) => path)).toEqual(["/kernel/x86/microcode/GenuineIntel.bin"]);
  expect(markers.services.map(({ name }) => name)).toEqual(["hello-world-service", "qemu-guest-agent"]);
  expect(markers.cmdline).toContain("talos.platform=");
  expect(markers.cmdline).toContain("casthouse.test=1");
}

/** Unpacks a .zst disk as a sparse file beside it and gives its path. */
export async function unpacked(file: string): Promise<string> {
  const disk = file.replace(/\.zst$/, "");
  await new Promise<void>((resolve, reject) => {
    const child = spawn("zstd", ["-d", "-q", "-f", "--sparse", file, "-o", disk], { stdio: "inherit" });
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? resolve() : reject(new Error(`zstd -d ended with ${code}`))));
  });
  return disk;
}
