/** Which machines an extension is for, read out of its programs, libraries and kernel modules. */
import { join } from "node:path";
import { ARCHES, type Arch } from "../../domain/asset.ts";
import { invalidInput } from "../../errors/app-error.ts";
import { ELF_MACHINES, type ElfFacts, readElf } from "../../formats/elf.ts";
import { FileMap, type MappedFile } from "./file-map.ts";
import type { ExtensionTree } from "./types.ts";

/** Firmware is for other processors than the machine's own. */
const FIRMWARE = /^(usr\/)?lib\/firmware\//;

/** True for files whose architecture decides whether they work: no firmware, no object files but kernel modules. */
export function isForMachine(entry: MappedFile, elf: ElfFacts): boolean {
  if (FIRMWARE.test(entry.path)) return false;
  if (elf.kind === "relocatable") return entry.path.endsWith(".ko");
  return elf.kind === "executable" || elf.kind === "shared";
}

/**
 * The architecture of its ELF files; both when it has none that says. invalid_input naming two files when they are for
 * different ones.
 */
export async function extensionArchitectures(tree: ExtensionTree, signal?: AbortSignal): Promise<Arch[]> {
  const map = await FileMap.of(join(tree.dir, "rootfs"), signal);
  const found = new Map<Arch, string>();
  for (const entry of map.all()) {
    if (entry.kind !== "file" || entry.sizeBytes < 52) continue;
    signal?.throwIfAborted();
    const elf = await map.reading(entry, readElf);
    if (elf === null || !isForMachine(entry, elf)) continue;
    const arch = ARCHES.find((one) => ELF_MACHINES[one] === elf.machine);
    if (arch !== undefined && !found.has(arch)) found.set(arch, entry.path);
  }
  const [first, second] = [...found];
  if (first !== undefined && second !== undefined)
    throw invalidInput(
      `The extension is for two architectures at once: ${first[1]} is for ${first[0]}, ${second[1]} for ${second[0]}`,
      { hint: "Make one extension for each architecture, under names of their own." },
    );
  return first === undefined ? [...ARCHES] : [first[0]];
}
