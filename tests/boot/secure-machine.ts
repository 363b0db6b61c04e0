/** Machines with Secure Boot whose variables stay from one boot to the next. */
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import type { Arch } from "../../lib/domain/asset.ts";
import { emptyVariables } from "../../scripts/boot/machine.ts";
import { type BootMedium, type BootOptions, type BootResult, bootInQemu } from "../../scripts/boot/qemu.ts";
import { noteBoot } from "./noted.ts";

/** What UEFI firmware says of a program that its databases do not allow. */
export const REFUSAL = "Access Denied";
/** What systemd-boot says when it writes keys. */
export const ENROLLING = "Enrolling secure boot keys";
/** The sample release has systemd-boot 252, which enrolls by itself only when it is forced to (if-safe came with 253). */
export const ENROLLING_SCHEMATIC = "customization:\n  secureboot:\n    enrollKeys: force\n";

export type SecureMachine = (
  medium: BootMedium,
  options?: Pick<BootOptions, "stopAt" | "tpm">,
) => Promise<BootResult>;

/** A machine that was never started: its firmware is in setup mode. */
export async function newSecureMachine(
  dir: string,
  name: string,
  arch: Arch = "amd64",
): Promise<SecureMachine> {
  const secureVars = join(dir, `${name}.fd`);
  await copyFile(emptyVariables(arch), secureVars);
  return async (medium, options = {}) => {
    const result = await bootInQemu({ medium, arch, secureVars, ...options });
    await noteBoot(medium, result, result.ok ? undefined : failureWords(result));
    return result;
  };
}

function failureWords({ serial, timedOut }: BootResult): string {
  if (timedOut) return "nothing in time";
  if (serial.includes(REFUSAL)) return `refused: ${REFUSAL}`;
  return serial.includes(ENROLLING) ? "keys enrolled, restart asked" : "ended early";
}
