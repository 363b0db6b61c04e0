/** Extensions that do not belong together: two drivers for one device, two branches of one driver, one thing under two names. */
import { findExtension } from "../extension-lookup.ts";
import type { CatalogExtension } from "../release.ts";

/** driver: both bring the same kernel module; branch: parts of different driver branches; same: one thing, two names. */
export type ConflictReason = "driver" | "branch" | "same";

export interface Conflict {
  reason: ConflictReason;
  names: [first: string, second: string];
}

const NVIDIA =
  /^siderolabs\/(nonfree-kmod-nvidia|nvidia-open-gpu-kernel-modules|nvidia-container-toolkit|nvidia-fabricmanager)(-lts|-production)?$/;
const KERNEL_MODULES = new Set(["nonfree-kmod-nvidia", "nvidia-open-gpu-kernel-modules"]);

/** Parts that a driver is made of. Names without a branch are those of old releases, which had one only. */
function nvidiaPart(name: string): { isModule: boolean; branch: string } | null {
  const [, part, branch = ""] = NVIDIA.exec(name) ?? [];
  return part === undefined ? null : { isModule: KERNEL_MODULES.has(part), branch };
}

function reasonOf(a: string, b: string, catalog: readonly CatalogExtension[] | null): ConflictReason | null {
  const [left, right] = [nvidiaPart(a), nvidiaPart(b)];
  const entry = catalog === null ? null : findExtension(catalog, a);
  if (a === b || (entry !== null && catalog !== null && findExtension(catalog, b) === entry)) return "same";
  if (left === null || right === null) return null;
  if (left.isModule && right.isModule) return "driver";
  return left.branch === right.branch ? null : "branch";
}

/** Every pair that does not belong together, in the order of the list. Without a catalog old names are not known. */
export function extensionConflicts(
  names: readonly string[],
  catalog: readonly CatalogExtension[] | null,
): Conflict[] {
  return names.flatMap((first, index) =>
    names.slice(index + 1).flatMap((second): Conflict[] => {
      const reason = reasonOf(first, second, catalog);
      return reason === null ? [] : [{ reason, names: [first, second] }];
    }),
  );
}

/** The chosen name that an offered extension would not go with; null when it goes with all. */
export function conflictWith(name: string, chosen: readonly string[]): string | null {
  return chosen.find((one) => one !== name && reasonOf(name, one, null) !== null) ?? null;
}
