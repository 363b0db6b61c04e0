/**
 * Debian packages of any architecture, downloaded and unpacked through a private apt folder: the machine's own sources,
 * caches and state stay as they are, and nothing of a foreign architecture is ever run.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Arch } from "../../lib/domain/asset.ts";
import { command } from "./command.ts";

const SUITE = "bookworm";
const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";

/** Packages the sample is made of. The kernel is the one that the metapackage points at. */
const KERNEL = { amd64: "linux-image-cloud-amd64", arm64: "linux-image-cloud-arm64" } as const;
const PACKAGES = [
  "busybox-static",
  "systemd-boot-efi",
  "hello",
  "qemu-guest-agent",
  "open-iscsi",
  "libc6",
  "libglib2.0-0",
  "libnuma1",
  "libpcre2-8-0",
  "libudev1",
  "liburing2",
];
/** Data that is the same for every architecture, taken from the amd64 index. */
const SHARED_PACKAGES = ["firmware-misc-nonfree", "intel-microcode"];
/** Boot loaders of boards, and GRUB for them, which an amd64 machine cannot install. */
const BOARD_PACKAGES = ["raspi-firmware", "u-boot-rockchip", "u-boot-rpi", "grub-efi-arm64-bin"];

export interface DebianTrees {
  /** Folder each package was unpacked into, by package name; the kernel is "linux-image". */
  packages: Record<string, string>;
  /** Name=version of every package, sorted. */
  versions: string[];
}

/** Downloads what is missing under `dir` and unpacks it. Throws the words of apt or dpkg when that fails. */
export async function fetchDebianTrees(dir: string, arch: Arch): Promise<DebianTrees> {
  const apt = await privateApt(join(dir, "apt", arch), arch);
  await apt("apt-get", ["-q", "update"]);
  const kernel = (await apt("apt-cache", ["depends", KERNEL[arch]])).match(/Depends: (linux-image-\S+)/)?.[1];
  if (!kernel) throw new Error(`Debian's ${KERNEL[arch]} names no kernel image`);
  const names = [kernel, ...PACKAGES, ...(arch === "amd64" ? SHARED_PACKAGES : BOARD_PACKAGES)];
  const archives = join(dir, "archives");
  await mkdir(archives, { recursive: true });
  await apt("apt-get", ["-q", "download", ...names], archives);
  const selected = await chosenVersions(await apt("apt-cache", ["show", "--no-all-versions", ...names]));
  const packages: Record<string, string> = {};
  await Promise.all(
    names.map(async (name) => {
      const unpacked = join(dir, "unpacked", arch, name);
      packages[name === kernel ? "linux-image" : name] = unpacked;
      await unpack(await archiveOf(archives, name, selected, arch), unpacked);
    }),
  );
  return { packages, versions: names.map((name) => `${name}=${selected[name]}`).sort() };
}

/**
 * A package of another suite of Debian's main archive, downloaded and unpacked under `dir`; gives its folder. The sample itself
 * is made of one suite; tests take what is newer from here.
 */
export async function fetchFromSuite(dir: string, suite: string, arch: Arch, name: string): Promise<string> {
  const apt = await privateApt(join(dir, "apt", `${suite}-${arch}`), arch, suite);
  await apt("apt-get", ["-q", "update"]);
  const archives = join(dir, "archives", suite);
  await mkdir(archives, { recursive: true });
  await apt("apt-get", ["-q", "download", name], archives);
  const selected = await chosenVersions(await apt("apt-cache", ["show", "--no-all-versions", name]));
  const unpacked = join(dir, "unpacked", `${suite}-${arch}`, name);
  await mkdir(join(unpacked, ".."), { recursive: true });
  await unpack(await archiveOf(archives, name, selected, arch), unpacked);
  return unpacked;
}

type Apt = (program: "apt-get" | "apt-cache", args: string[], cwd?: string) => Promise<string>;

async function privateApt(dir: string, arch: Arch, otherSuite?: string): Promise<Apt> {
  await mkdir(join(dir, "state/lists/partial"), { recursive: true });
  await mkdir(join(dir, "cache/archives/partial"), { recursive: true });
  await writeFile(join(dir, "status"), "");
  await writeFile(join(dir, "sources.list"), await sourcesList(otherSuite));
  const options = {
    "APT::Architecture": arch,
    "APT::Architectures::": arch,
    "APT::Sandbox::User": "",
    "Acquire::Languages": "none",
    "Acquire::Retries": "3",
    "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
    "Dir::State": join(dir, "state"),
    "Dir::State::status": join(dir, "status"),
    "Dir::Cache": join(dir, "cache"),
    "Dir::Etc::sourcelist": join(dir, "sources.list"),
    "Dir::Etc::sourceparts": "-",
    "Dir::Etc::preferences": "-",
    "Dir::Etc::preferencesparts": "-",
  };
  const flags = Object.entries(options).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  return (program, args, cwd) => command(program, [...flags, ...args], cwd === undefined ? {} : { cwd });
}

/** The mirror this machine already uses, with the one suite the sample is made of, or with another one. */
async function sourcesList(otherSuite?: string): Promise<string> {
  const targets = await command("apt-get", [
    "indextargets",
    "--format",
    "$(REPO_URI)",
    "Identifier: Packages",
  ]).catch(() => "");
  const mirror = (last: string): string =>
    targets.split("\n").find((uri) => uri.replace(/\/$/, "").endsWith(`/${last}`)) ??
    `http://deb.debian.org/${last}/`;
  const line = (uri: string, suite: string): string =>
    `deb [signed-by=${KEYRING}] ${uri} ${suite} main non-free-firmware\n`;
  if (otherSuite !== undefined) return line(mirror("debian"), otherSuite);
  return line(mirror("debian"), SUITE) + line(mirror("debian-security"), `${SUITE}-security`);
}

/** Package name → version, from the output of "apt-cache show". */
async function chosenVersions(text: string): Promise<Record<string, string>> {
  const versions: Record<string, string> = {};
  for (const record of text.split("\n\n")) {
    const name = record.match(/^Package: (.+)$/m)?.[1];
    const version = record.match(/^Version: (.+)$/m)?.[1];
    if (name && version) versions[name] ??= version;
  }
  return versions;
}

async function archiveOf(
  dir: string,
  name: string,
  versions: Record<string, string>,
  arch: Arch,
): Promise<string> {
  const version = versions[name]?.replaceAll(":", "%3a");
  const wanted = [`${name}_${version}_${arch}.deb`, `${name}_${version}_all.deb`];
  const found = (await readdir(dir)).find((file) => wanted.includes(file));
  if (!found) throw new Error(`apt downloaded no ${wanted[0]}`);
  return join(dir, found);
}

/** Unpacks an archive unless the folder was made from the same one. */
async function unpack(archive: string, dir: string): Promise<void> {
  const origin = `${dir}.origin`;
  if ((await readFile(origin, "utf8").catch(() => "")) === basename(archive)) return;
  const partial = `${dir}.partial`;
  await rm(dir, { recursive: true, force: true });
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  await command("dpkg-deb", ["--extract", archive, partial]);
  await rename(partial, dir);
  await writeFile(origin, basename(archive));
}
