/** Programs, libraries and scripts of an extension: for which machine they are, and whether what they need is there. */
import type { Arch } from "../../domain/asset.ts";
import { ELF_MACHINES, elfMachineName, readElf } from "../../formats/elf.ts";
import { isForMachine } from "./architecture.ts";
import { type FileMap, nextTurn } from "./file-map.ts";
import type { Findings } from "./findings.ts";
import { createLibrarySearch, type Need } from "./libraries.ts";
import type { Program } from "./program.ts";
import { scopeOf } from "./scope.ts";
import type { DefinedService } from "./service.ts";

const HEAD_BYTES = 256;
const BPF = 247;
const STEPS_OF_A_NAME = 100;

/** Reads the beginning of every file. Those that are neither ELF nor a script are left out. */
export async function readPrograms(map: FileMap, signal?: AbortSignal): Promise<Map<string, Program>> {
  const programs = new Map<string, Program>();
  for (const entry of map.all()) {
    if (entry.kind !== "file" || entry.sizeBytes < 4) continue;
    signal?.throwIfAborted();
    const program = await map.reading(entry, async (read): Promise<Program | null> => {
      const head = Buffer.from(await read(0, HEAD_BYTES)).toString("latin1");
      if (head.startsWith("\x7fELF")) return { entry, elf: await readElf(read), script: null };
      if (!head.startsWith("#!") || (entry.mode & 0o111) === 0) return null;
      const [line = ""] = head.slice(2).split("\n");
      return { entry, elf: null, script: line.split(/[ \t]+/).filter(Boolean) };
    });
    if (program === null) continue;
    // Names that will be looked up one by one.
    map.spend(STEPS_OF_A_NAME * (program.elf?.needed.length ?? 0));
    programs.set(entry.path, program);
  }
  return programs;
}

/** Errors for other machines, and for what a service's own program lacks; warnings for what others lack. */
export async function checkPrograms(
  map: FileMap,
  programs: ReadonlyMap<string, Program>,
  { arch, services }: { arch: Arch; services: readonly DefinedService[] },
  findings: Findings,
  signal?: AbortSignal,
): Promise<void> {
  for (const { entry, elf } of programs.values())
    if (elf !== null && elf.machine !== BPF && elf.machine !== ELF_MACHINES[arch] && isForMachine(entry, elf))
      findings.error(
        "other-architecture",
        `${entry.path} is for ${elfMachineName(elf.machine)}, not for ${arch}`,
        {
          path: entry.path,
          hint: `Build it for ${arch}, or send the extension for the other architecture.`,
        },
      );
  const search = await createLibrarySearch(map, programs, { arch, services });
  const needed = neededByServices(services, programs, search.needs);
  for (const program of programs.values()) {
    await nextTurn(signal);
    const missing = search.needs(program).filter(({ found }) => found === null);
    for (const need of missing) tell(program, need, needed.has(program.entry.path), findings);
  }
}

/** Paths of everything that the entry points of services start or load. */
function neededByServices(
  services: readonly DefinedService[],
  programs: ReadonlyMap<string, Program>,
  needs: (program: Program) => Need[],
): Set<string> {
  const waiting = services.flatMap(({ entrypoint }) => (entrypoint === null ? [] : [entrypoint.path]));
  const seen = new Set<string>();
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const program = programs.get(path);
    if (seen.has(path) || program === undefined) continue;
    seen.add(path);
    for (const { found } of needs(program)) if (found !== null) waiting.push(found.path);
  }
  return seen;
}

function tell({ entry }: Program, need: Need, isStarted: boolean, findings: Findings): void {
  const { path } = entry;
  const { what, name, elsewhere } = need;
  const scope = scopeOf(path);
  if (need.onMachine) {
    findings.warning(`system-${what}`, `${path} needs ${name}, which the extension does not bring`, {
      path,
      hint: ON_MACHINE[what],
    });
    return;
  }
  if (elsewhere !== null) {
    findings.warning(
      "library-off-path",
      `${path} needs ${name}, which lies where it does not look: ${elsewhere}`,
      {
        path,
        hint: "Set LD_LIBRARY_PATH in the service definition, or move the library to /usr/lib of the container.",
      },
    );
    return;
  }
  const severity = isStarted ? "error" : "warning";
  findings.add(severity, `missing-${what}`, `${path} needs ${name}, which is not in ${scope}`, {
    path,
    hint: hintFor(what, name),
  });
}

const ON_MACHINE: Record<Need["what"], string> = {
  interpreter:
    "Talos itself may bring this loader, and may drop it in any release: link the program statically.",
  library:
    "Talos itself may bring this library, and may drop it in any release: link the program statically.",
  "script-interpreter":
    "Talos has no shell; bring the interpreter, or run the script inside a container root that has it.",
};

function hintFor(what: Need["what"], name: string): string {
  if (what === "script-interpreter" && name.endsWith("\r"))
    return "The script has line ends of Windows; write it with plain ones.";
  if (what === "script-interpreter")
    return "Add the interpreter to the container root, or start a program instead.";
  if (what === "interpreter") return "Add the loader to the container root, or link the program statically.";
  return "Add the library to /usr/lib of the container root, or link the program statically.";
}
