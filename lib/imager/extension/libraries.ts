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
/** What one look into a known folder counts for. */
const STEPS = 5;
const MOST_CONF_BYTES = 64 * 1024;
const MOST_CONF_FILES = 100;

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
  /** Folders that were looked for. */
  known: Map<string, MappedFile | null>;
}

/** Reads what decides about the search once; gives a function from a program to its needs. */
export async function createLibrarySearch(
  map: FileMap,
  programs: ReadonlyMap<string, Program>,
  { arch, services }: { arch: Arch; services: readonly DefinedService[] },
): Promise<{ needs: (program: Program) => Need[] }> {
  const serviceOf = new Map(services.map((service) => [service.scope, service]));
  const listed = byScope(map);
  const roots = new Map<string, Root>();
  for (const { entry } of programs.values()) {
    const scope = scopeOf(entry.path);
    if (roots.has(scope)) continue;
    const own = { arch, service: serviceOf.get(scope), ...(listed.get(scope) ?? NOTHING) };
    roots.set(scope, await readRoot(map, scope, own));
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

/** What of a root is found by its name. */
interface Listed {
  /** Paths inside the root of further files with folders of libraries. */
  configurations: string[];
  /** Paths of libraries by name. */
  libraries: Map<string, string>;
}

const NOTHING: Listed = { configurations: [], libraries: new Map() };

/** One pass over all files, whatever the number of roots. */
function byScope(map: FileMap): Map<string, Listed> {
  const found = new Map<string, Listed>();
  for (const { path } of map.all()) {
    const scope = scopeOf(path);
    const inside = path.slice(scope === "" ? 0 : scope.length + 1);
    const name = path.slice(path.lastIndexOf("/") + 1);
    const isConfiguration = /^etc\/ld\.so\.conf\.d\/[^/]+\.conf$/.test(inside);
    if (!isConfiguration && !/\.so(\.|$)/.test(name)) continue;
    const listed: Listed = found.get(scope) ?? { configurations: [], libraries: new Map() };
    if (isConfiguration) listed.configurations.push(`/${inside}`);
    else listed.libraries.set(name, path);
    found.set(scope, listed);
  }
  return found;
}

async function readRoot(
  map: FileMap,
  scope: string,
  { arch, service, configurations, libraries }: Listed & { arch: Arch; service: DefinedService | undefined },
): Promise<Root> {
  const own = ["/etc/ld.so.conf", `/etc/ld-musl-${MUSL_NAMES[arch]}.path`];
  const mounts = service?.mounts ?? [];
  const configured: string[] = [];
  for (const path of [...own, ...configurations.slice(0, MOST_CONF_FILES)]) {
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
    libraries,
    known: new Map(),
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

/** A file in a folder of libraries; each folder is looked for once. */
function inFolder(map: FileMap, root: Root, folder: string, name: string): MappedFile | null {
  map.spend(STEPS);
  const known = root.known.get(folder);
  const place = known === undefined ? lookUp(map, root, folder) : known;
  root.known.set(folder, place);
  const found = place?.kind === "folder" ? map.at(`${place.path}/${name}`) : null;
  return found?.kind === "link" ? lookUp(map, root, `${folder}/${name}`) : found;
}

function library(map: FileMap, root: Root, { entry, elf }: Program, name: string): Need {
  const { scope, folders, libraries } = root;
  if (name.includes("/")) return at(map, root, "library", name);
  const own = `/${dirname(entry.path.slice(scope === "" ? 0 : scope.length + 1))}`;
  const runPaths = (elf?.runPaths ?? []).map((path) => path.replace(/\$(ORIGIN|\{ORIGIN\})/g, own));
  const places = [...runPaths, ...folders];
  const found = places
    .map((folder) => inFolder(map, root, folder, name))
    .find((candidate) => candidate?.kind === "file");
  const other = libraries.get(name) ?? null;
  // A library is often loaded by a program that knows the folder.
  const loaded = found === undefined && elf?.interpreter === null && other !== null ? map.at(other) : null;
  return {
    ...{ what: "library", name, found: found ?? loaded, elsewhere: other },
    onMachine: scope === "" || places.some((folder) => mayBeOnMachine(root, folder)),
  };
}
