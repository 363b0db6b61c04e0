/** Where programs of an extension look for what they need (ld.so(8), execve(2)), inside their own root. */
import { dirname } from "node:path/posix";
import type { Arch } from "../../domain/asset.ts";
import type { FileMap, MappedFile } from "./file-map.ts";
import type { Program } from "./program.ts";
import { onMachine, resolveSeen, type Seen, scopeOf } from "./scope.ts";
import type { DefinedService } from "./service.ts";

/** Something that a program cannot run without. */
export interface Need {
  what: "interpreter" | "library" | "script-interpreter";
  name: string;
  found: MappedFile | null;
  /** A library of that name in a folder that is not looked into. */
  elsewhere: string | null;
  /** It may be there on the machine although the extension does not bring it. */
  onMachine: boolean;
}

const FOLDERS = ["/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib"];
const TRIPLETS = { amd64: "x86_64-linux-gnu", arm64: "aarch64-linux-gnu" } as const;
const MUSL_NAMES = { amd64: "x86_64", arm64: "aarch64" } as const;
const COMMANDS = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
/** Names that the loader of musl answers itself. */
const MUSL_OWN = /^lib(c|pthread|rt|m|dl|util|xnet)\.(so$|musl-)/;
const MOST_CONF_BYTES = 64 * 1024;

/** What is known about one root. */
interface Root {
  scope: string;
  folders: string[];
  /** What of the machine is seen in it. */
  mounts: readonly Seen[];
  /** Its loader is that of musl. */
  musl: boolean;
  /** Paths of libraries by name. */
  libraries: Map<string, string>;
}

/** Reads what decides about the search once; gives a function from a program to its needs. */
export async function createLibrarySearch(
  map: FileMap,
  programs: ReadonlyMap<string, Program>,
  { arch, services }: { arch: Arch; services: readonly DefinedService[] },
): Promise<{ needs: (program: Program) => Need[] }> {
  const roots = new Map<string, Root>();
  for (const { entry } of programs.values()) {
    const scope = scopeOf(entry.path);
    if (roots.has(scope)) continue;
    const service = services.find((one) => one.scope === scope);
    roots.set(scope, await readRoot(map, scope, arch, service));
  }
  for (const entry of map.all()) {
    const name = entry.path.slice(entry.path.lastIndexOf("/") + 1);
    if (/\.so(\.|$)/.test(name)) roots.get(scopeOf(entry.path))?.libraries.set(name, entry.path);
  }
  const known = new Map<Program, Need[]>();
  return {
    needs(program) {
      const root = roots.get(scopeOf(program.entry.path));
      const needs = known.get(program) ?? (root === undefined ? [] : needsOf(map, root, program));
      known.set(program, needs);
      return needs;
    },
  };
}

async function readRoot(
  map: FileMap,
  scope: string,
  arch: Arch,
  service: DefinedService | undefined,
): Promise<Root> {
  const own = ["/etc/ld.so.conf", `/etc/ld-musl-${MUSL_NAMES[arch]}.path`];
  const drop = map.all().flatMap(({ path }) => {
    const inside = scope === "" ? path : path.startsWith(`${scope}/`) ? path.slice(scope.length + 1) : "";
    return /^etc\/ld\.so\.conf\.d\/[^/]+\.conf$/.test(inside) ? [`/${inside}`] : [];
  });
  const mounts = service?.mounts ?? [];
  const configured: string[] = [];
  for (const path of [...own, ...drop]) {
    const entry = map.resolve(scope, path);
    if (entry?.kind !== "file") continue;
    const bytes = await map.reading(entry, (read) => read(0, MOST_CONF_BYTES));
    configured.push(...new TextDecoder().decode(bytes).split(/[\s:]+/));
  }
  const variable = service?.environment.find((text) => text.startsWith("LD_LIBRARY_PATH=")) ?? "";
  const wide = FOLDERS.flatMap((folder) => [folder, `${folder}/${TRIPLETS[arch]}`]);
  return {
    scope,
    folders: [...variable.slice("LD_LIBRARY_PATH=".length).split(":"), ...configured, ...wide].filter((one) =>
      one.startsWith("/"),
    ),
    mounts,
    musl: resolveSeen(map, scope, mounts, `/lib/ld-musl-${MUSL_NAMES[arch]}.so.1`) !== null,
    libraries: new Map(),
  };
}

function needsOf(map: FileMap, root: Root, program: Program): Need[] {
  const { elf, script } = program;
  if (script !== null) return scriptNeeds(map, root, script);
  if (elf === null || elf.kind === "relocatable") return [];
  const needs: Need[] = elf.interpreter === null ? [] : [at(map, root, "interpreter", elf.interpreter)];
  for (const name of elf.needed)
    if (!(root.musl && MUSL_OWN.test(name))) needs.push(library(map, root, program, name));
  return needs;
}

function scriptNeeds(map: FileMap, root: Root, [command = "", argument]: string[]): Need[] {
  const first = at(map, root, "script-interpreter", command);
  const isEnv = /\/env$/.test(command) && argument !== undefined && !argument.startsWith("-");
  if (first.found === null || !isEnv) return [first];
  const paths = COMMANDS.map((folder) => `${folder}/${argument}`);
  const found = paths.map((path) => lookUp(map, root, path)).find((entry) => entry !== null);
  const second: Need = {
    ...{ what: "script-interpreter", name: argument, found: found ?? null, elsewhere: null },
    onMachine: paths.some((path) => mayBeOnMachine(root, path)),
  };
  return [first, second];
}

/** What has its absolute path in the program. */
function at(map: FileMap, root: Root, what: Need["what"], path: string): Need {
  const found = lookUp(map, root, path);
  const file = found?.kind === "file" ? found : null;
  return { what, name: path, found: file, elsewhere: null, onMachine: mayBeOnMachine(root, path) };
}

const mayBeOnMachine = ({ scope, mounts }: Root, path: string): boolean =>
  scope === "" || onMachine(mounts, path) !== null;

const lookUp = (map: FileMap, { scope, mounts }: Root, path: string): MappedFile | null =>
  resolveSeen(map, scope, mounts, path);

function library(map: FileMap, root: Root, { entry, elf }: Program, name: string): Need {
  const { scope, folders, libraries } = root;
  if (name.includes("/")) return at(map, root, "library", name);
  const own = `/${dirname(entry.path.slice(scope === "" ? 0 : scope.length + 1))}`;
  const runPaths = (elf?.runPaths ?? []).map((path) => path.replace(/\$(ORIGIN|\{ORIGIN\})/g, own));
  const places = [...runPaths, ...folders];
  const found = places
    .map((folder) => lookUp(map, root, `${folder}/${name}`))
    .find((candidate) => candidate?.kind === "file");
  const other = libraries.get(name) ?? null;
  // A library is often loaded by a program that knows the folder.
  const loaded = found === undefined && elf?.interpreter === null && other !== null ? map.at(other) : null;
  return {
    ...{ what: "library", name, found: found ?? loaded, elsewhere: other },
    onMachine: scope === "" || places.some((folder) => mayBeOnMachine(root, folder)),
  };
}
