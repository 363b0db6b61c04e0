/**
 * Proves with the tools of others that what is downloaded from a factory is what its name says: disks, file systems, boot
 * catalogues, packed files, extension layers, checksums. (The imager's own tests look deeper, at each step.)
 */
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestFactory, type TestFactory } from "../fixtures/factory.ts";

const execute = promisify(execFile);
/** RFC 8878 §3.1.1. */
const ZSTD_MAGIC = Buffer.from("28b52ffd", "hex");
const EXTENSIONS = ["qemu-guest-agent", "intel-ucode", "drbd"];

let factory: TestFactory;
let folder: string;
let schematic: string;

beforeAll(async () => {
  factory = await startTestFactory();
  folder = join(factory.dataDir, "downloads");
  await mkdir(folder);
  schematic = await factory.schematic(
    `customization: {systemExtensions: {officialExtensions: [${EXTENSIONS.map((name) => `siderolabs/${name}`)}]}}\n`,
  );
}, 300_000);

afterAll(() => factory?.stop());

async function tool(program: string, ...args: string[]): Promise<string> {
  const { stdout } = await execute(program, args, { cwd: folder, maxBuffer: 16 * 1024 * 1024 });
  return stdout;
}

/** Downloads into a folder of the version under the name a browser would choose. */
async function download(version: string, name: string): Promise<string> {
  const file = await factory.fetch(`/image/${schematic}/${version}/${name}`);
  await mkdir(join(folder, version), { recursive: true });
  const path = join(folder, version, name);
  await rename(file, path);
  return path;
}

/** Copies a range of a file out, for tools that want a file of their own; holes stay holes. */
async function cut(file: string, offset: number, length: number, to: string): Promise<string> {
  const path = join(folder, to);
  const range = [`skip=${offset}`, `count=${length}`, "iflag=skip_bytes,count_bytes,fullblock"];
  await tool("dd", `if=${file}`, `of=${path}`, "bs=1M", "conv=sparse", ...range);
  return path;
}

interface Partition {
  name: string;
  offset: number;
  length: number;
}

/** What sgdisk says of the disk, after it has verified it. */
async function partitionsOf(disk: string): Promise<Partition[]> {
  expect(await tool("sgdisk", "-v", disk)).toContain("No problems found");
  const table = await tool("sgdisk", "-p", disk);
  const rows = table.split("\n").filter((line) => /^ +\d+ +\d+ +\d+ /.test(line));
  return rows.map((row) => {
    const [, start, end, , , , ...name] = row.trim().split(/ +/);
    const [first, last] = [Number(start), Number(end)];
    return { name: name.join(" "), offset: first * 512, length: (last - first + 1) * 512 };
  });
}

async function expectCleanFat(file: string): Promise<void> {
  expect(await tool("fsck.fat", "-n", file)).toMatch(/\d+ files, \d+\/\d+ clusters/);
}

async function expectChecksums(path: string, version: string): Promise<void> {
  for (const algorithm of ["sha256", "sha512"]) {
    const sidecar = `${basename(path)}.${algorithm}`;
    const reply = await fetch(`${factory.url}/image/${schematic}/${version}/${sidecar}`);
    await writeFile(join(folder, version, sidecar), Buffer.from(await reply.arrayBuffer()));
    const { stdout } = await execute(`${algorithm}sum`, ["-c", sidecar], { cwd: join(folder, version) });
    expect(stdout).toBe(`${basename(path)}: OK\n`);
  }
}

test.each([
  ["v1.13.2", "metal-amd64.raw.zst", "zstd", ["EFI", "BIOS", "BOOT", "META"]],
  ["v1.13.2", "metal-arm64.raw.zst", "zstd", ["EFI", "META"]],
  ["v1.9.5", "nocloud-amd64.raw.xz", "xz", ["EFI", "BIOS", "BOOT", "META"]],
] as const)("%s %s is packed well and holds a sound disk", async (version, name, packer, wanted) => {
  const packed = await download(version, name);
  await expectChecksums(packed, version);
  await tool(packer, "-t", packed);
  const disk = packed.replace(/\.\w+$/, "");
  await execute("sh", [
    "-c",
    `${packer} -dc "$1" | dd of="$2" bs=1M conv=sparse iflag=fullblock`,
    "sh",
    packed,
    disk,
  ]);
  const partitions = await partitionsOf(disk);
  expect(partitions.map((partition) => partition.name)).toEqual(expect.arrayContaining([...wanted]));
  const esp = partitions.find((partition) => partition.name === "EFI");
  if (!esp) throw new Error("no EFI partition");
  await expectCleanFat(await cut(disk, esp.offset, esp.length, `${version}-esp.img`));
});

test("gcp's archive holds one disk under the name gcp wants", async () => {
  const archive = await download("v1.13.2", "gcp-amd64.raw.tar.gz");
  await tool("gzip", "-t", archive);
  expect(await tool("tar", "-tzf", archive)).toBe("disk.raw\n");
});

test("a qcow2 image has no errors", async () => {
  const image = await download("v1.13.2", "metal-amd64.qcow2");
  expect(await tool("qemu-img", "check", image)).toContain("No errors were found");
});

test.each([
  ["v1.9.5", "metal-amd64.iso", ["BIOS", "UEFI"]],
  ["v1.13.2", "metal-amd64.iso", ["BIOS", "UEFI"]],
  ["v1.13.2", "metal-arm64.iso", ["UEFI"]],
] as const)("%s %s boots the ways it should", async (version, name, platforms) => {
  const iso = await download(version, name);
  await expectChecksums(iso, version);
  const report = await tool("xorriso", "-indev", iso, "-report_el_torito", "plain");
  const images = [...report.matchAll(/^El Torito boot img : +\d+ +(BIOS|UEFI) +y/gm)].map(
    (match) => match[1],
  );
  expect([...new Set(images)].sort()).toEqual([...platforms].sort());
  const uefi = /^El Torito boot img : +\d+ +UEFI +y +\S+ +\S+ +\S+ +(\d+) +(\d+)/m.exec(report);
  const [blocks, lba] = [Number(uefi?.[1]), Number(uefi?.[2])];
  const file = await cut(
    iso,
    lba * 2_048,
    Math.max(blocks * 512, await fatBytes(iso, lba * 2_048)),
    `${version}-${name}.esp`,
  );
  await expectCleanFat(file);
});

/** Length by the FAT's own header (total sectors × 512): El Torito can count 32 MiB only. */
async function fatBytes(file: string, offset: number): Promise<number> {
  const header = await readFile(await cut(file, offset, 512, "fat-header"));
  return (header.readUInt16LE(19) || header.readUInt32LE(32)) * header.readUInt16LE(11);
}

/** The archive behind the release's own part: the last place from which the rest is one zstd stream that holds a cpio. */
async function appendedArchive(initramfs: string): Promise<string> {
  const bytes = await readFile(initramfs);
  const appended = `${initramfs}.appended`;
  for (let at = bytes.lastIndexOf(ZSTD_MAGIC); at > 0; at = bytes.lastIndexOf(ZSTD_MAGIC, at - 1)) {
    await writeFile(appended, bytes.subarray(at));
    const unpacked = await execute("sh", [
      "-c",
      'zstd -q -t "$1" && zstd -q -dc "$1" | head -c 6',
      "sh",
      appended,
    ]).then(
      ({ stdout }) => stdout,
      () => "",
    );
    if (unpacked === "070701") return appended;
  }
  throw new Error(`${initramfs} has no archive at its end`);
}

test.each(["v1.13.2", "v1.9.5"])(
  "%s initramfs carries each extension as a readable layer",
  async (version) => {
    const initramfs = await download(version, "initramfs-amd64.xz");
    const appended = await appendedArchive(initramfs);
    const root = join(folder, `${version}-root`);
    await mkdir(root);
    await execute("sh", ["-c", `zstd -dc "$1" | cpio -idm --quiet -D "$2"`, "sh", appended, root]);
    const layers = (await readdir(root)).filter((name) => name.endsWith(".sqsh")).sort();
    const listings = await Promise.all(layers.map((name) => tool("unsquashfs", "-l", join(root, name))));
    const text = listings.join("\n");
    expect(layers.length).toBeGreaterThanOrEqual(EXTENSIONS.length);
    for (const listing of listings) expect(listing.split("\n").length).toBeGreaterThan(2);
    expect(text).toContain("qemu-guest-agent");
    expect(text).toMatch(/drbd\.ko/);
    const index = await readFile(join(root, "extensions.yaml"), "utf8");
    for (const name of [...EXTENSIONS, "schematic"]) expect(index).toContain(`name: ${name}`);
    expect(index).toContain(schematic);
  },
);
