/** For which machine two choices are compared or a release is checked: platform, architecture, SecureBoot. */
import { ARCHES, type Arch } from "./asset.ts";
import { archOf } from "./form/form-state.ts";
import { findPlatform } from "./platforms.ts";
import type { Schematic } from "./schematic-types.ts";

export interface MachineTarget {
  platform: string;
  arch: Arch;
  secureboot: boolean;
}

/** Reads `platform`, `arch` and `secureboot`; what is not known becomes bare metal, amd64, no. */
export function readMachineTarget(query: URLSearchParams): MachineTarget {
  const platform = findPlatform(query.get("platform") ?? "")?.name ?? "metal";
  const arch = ARCHES.find((known) => known === query.get("arch")) ?? "amd64";
  const secureboot = ["true", "on", "1"].includes(query.get("secureboot") ?? "");
  return { platform, arch: archOf({ target: "cloud", platform, arch }), secureboot };
}

/** The machine that counts for a schematic: boards are arm64, bare metal and without SecureBoot. */
export const machineFor = ({ overlay }: Schematic, target: MachineTarget): MachineTarget =>
  overlay === undefined ? target : { platform: "metal", arch: "arm64", secureboot: false };

/** The query that readMachineTarget turns back into this. */
export function writeMachineTarget({ platform, arch, secureboot }: MachineTarget): Record<string, string> {
  return { platform, arch, ...(secureboot ? { secureboot: "true" } : {}) };
}
