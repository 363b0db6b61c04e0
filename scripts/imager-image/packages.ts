/** Which files of this machine an imager of ours needs: those of Debian packages, and the libraries their programs load. */
import { lstat, readFile, readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { command } from "../sample-release/command.ts";
import { toolPackages } from "../setup/debian.mjs";

/** Besides what the allow-list of programs names: GRUB's modules, a shell for scripts of packages, what compresses archives. */
const MORE = ["grub-pc-bin", "grub-efi-amd64-bin", "dash", "coreutils", "gzip"];
/** Parts of packages that no program reads. */
const LEFT_OUT =
  /^\/(usr\/share\/(doc|man|locale|info|lintian|bash-completion|zsh|applications|icons|polkit-1|bug|doc-base|perl5)\b|etc\/|lib\/systemd|usr\/lib\/systemd|usr\/include|var\/|usr\/lib\/(git|tmpfiles|sysusers))/;
/** Names in FAT are written through the C library's tables. */
const CONVERSIONS = /\/gconv\/(gconv-modules(\.d\/.*)?|IBM850\.so|UTF-\d+\.so)$/;

/** Names of the packages with their versions, sorted; changes whenever the image has to be made anew. */
export async function packageVersions(): Promise<string[]> {
  const tools = toolPackages().map(({ name }) => name ?? "");
  const names = [...new Set([...tools, ...MORE])].sort();
  const lines = await command("dpkg-query", ["--show", ...names]);
  return lines.trim().replaceAll("\t", "=").split("\n").sort();
}

/** Every file and link of the packages, and what their programs and `programs` load, as paths without links in their folders. */
export async function gatherFiles(packages: string[], programs: string[]): Promise<string[]> {
  const names = packages.map((entry) => entry.split("=")[0] ?? "");
  const listed = (await command("dpkg", ["--listfiles", ...names]))
    .split("\n")
    .filter((path) => path.startsWith("/") && !LEFT_OUT.test(path));
  const conversions = (await command("dpkg", ["--listfiles", "libc6"]))
    .split("\n")
    .filter((path) => CONVERSIONS.test(path));
  const found = new Set<string>();
  const binaries: string[] = [...programs];
  for (const path of new Set([...listed, ...conversions])) {
    const stats = await lstat(path).catch(() => null);
    if (stats === null || stats.isDirectory()) continue;
    const place = await placeOf(path);
    found.add(place);
    if (stats.isFile() && (stats.mode & 0o111) !== 0 && (await isElf(place))) binaries.push(place);
  }
  const libraries = await librariesOf(binaries);
  for (const path of [...libraries, ...(await modulesOfNode(libraries))]) await addWithTargets(found, path);
  return [...found].sort();
}

/** The same name in its folder's real place: /bin is a link to /usr/bin. */
const placeOf = async (path: string): Promise<string> => join(await realpath(dirname(path)), basename(path));

async function isElf(path: string): Promise<boolean> {
  const head = (await readFile(path)).subarray(0, 4);
  return head.toString("latin1") === "\x7fELF";
}

/** ldd names a library by the path it is loaded from; static programs have none. */
async function librariesOf(programs: string[]): Promise<Set<string>> {
  const libraries = new Set<string>();
  for (const program of programs) {
    const lines = await command("ldd", [program]).catch(() => "");
    for (const [, path] of lines.matchAll(/(?:=> )?(\/\S+) \(0x/g)) if (path) libraries.add(path);
  }
  return libraries;
}

/** Debian's Node.js reads some of its own modules from files; its library names them. */
async function modulesOfNode(libraries: Set<string>): Promise<string[]> {
  const found: string[] = [];
  for (const library of libraries) {
    if (!basename(library).startsWith("libnode.so")) continue;
    const text = (await readFile(library)).toString("latin1");
    for (const [path] of text.matchAll(/\/usr\/share\/nodejs\/[\w./-]+\.js/g)) found.push(path);
  }
  return found;
}

/** A library is often a link to the file with the whole version number. */
async function addWithTargets(found: Set<string>, path: string): Promise<void> {
  const place = await placeOf(path);
  found.add(place);
  const stats = await lstat(place);
  if (stats.isSymbolicLink()) await addWithTargets(found, resolve(dirname(place), await readlink(place)));
}
