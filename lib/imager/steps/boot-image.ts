/** Step boot-image: the BOOT partition as an XFS image with kernel, initramfs and GRUB menu, made without mounting. */
import { open, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { grubDiskConfig } from "../../formats/grub-disk-config.ts";
import { type ProtoNode, protofile } from "../../formats/protofile.ts";
import { xfsPatches } from "../../formats/xfs-normalize.ts";
import { SOURCE_DATE_EPOCH } from "../epoch.ts";
import { readBytes } from "../pack/chunks.ts";
import { flagParam, need, numberParam, objectParam, textParam } from "../params.ts";
import type { StepFunction } from "../types.ts";
import { commandLineParam } from "./command-line.ts";

/** Sources are named relative to the step's folder: the format has no quoting, a path with a blank would break it. */
const TREE: ProtoNode[] = [
  {
    type: "directory",
    name: "A",
    mode: 0o755,
    children: [
      { type: "file", name: "initramfs.xz", mode: 0o644, source: "initramfs" },
      { type: "file", name: "vmlinuz", mode: 0o644, source: "kernel" },
    ],
  },
  {
    type: "directory",
    name: "grub",
    mode: 0o700,
    children: [{ type: "file", name: "grub.cfg", mode: 0o600, source: "grub.cfg" }],
  },
];

/**
 * Features GRUB 2.06 can read and mkfs.xfs 6.1 knows; docs/disk-images.md compares them with newer profiles. Later
 * versions turn rmapbt and nrext64 on unless told otherwise.
 */
const METADATA_FEATURES = "bigtime=1,inobtcount=1,reflink=1,rmapbt=0,finobt=1,crc=1";
const INODE_FEATURES = "sparse=1,nrext64=0";

/**
 * Params: sizeBytes, sectorSize, guid, and grubConfig (text) or menu { version, resetEntry, commandLine }. Needs: kernel,
 * initramfs, then what commandLineParam names.
 */
export const bootImage: StepFunction = async (params, needs, ctx) => {
  const image = join(ctx.dir, "boot.img");
  const sectorSize = numberParam(params, "sectorSize");
  await symlink(need(needs, 0).path, join(ctx.dir, "kernel"));
  await symlink(need(needs, 1).path, join(ctx.dir, "initramfs"));
  await writeFile(join(ctx.dir, "grub.cfg"), await grubConfigOf(params, needs));
  await writeFile(join(ctx.dir, "proto"), protofile(TREE));
  await writeFile(image, "");
  await truncate(image, numberParam(params, "sizeBytes"));
  const sector = sectorSize === 512 ? [] : ["-s", `size=${sectorSize}`];
  const metadata = `${METADATA_FEATURES},uuid=${textParam(params, "guid")}`;
  const features = ["-n", "ftype=1", "-m", metadata, "-i", INODE_FEATURES];
  const args = ["-q", "-f", "-L", "BOOT", ...features, ...sector, "-p", "proto", "boot.img"];
  await ctx.run("mkfs.xfs", args, { cwd: ctx.dir, signal: ctx.signal });
  await settleInodes(image);
  return { path: image, shape: "file" };
};

async function grubConfigOf(
  params: Parameters<StepFunction>[0],
  needs: Parameters<StepFunction>[1],
): Promise<string> {
  if (params.menu === undefined) return textParam(params, "grubConfig");
  const menu = objectParam(params, "menu");
  return grubDiskConfig({
    version: textParam(menu, "version"),
    resetEntry: flagParam(menu, "resetEntry"),
    commandLine: await commandLineParam(menu, needs),
  });
}

/**
 * mkfs.xfs stamps every inode with the time of the run, and later versions (6.13 for one) with a random generation;
 * everything else it writes is the same each time.
 */
async function settleInodes(image: string): Promise<void> {
  const file = await open(image, "r+");
  try {
    const read = (offset: number, length: number) => readBytes(file, offset, length);
    for (const { offset, bytes } of await xfsPatches(read, SOURCE_DATE_EPOCH)) {
      await file.write(bytes, 0, bytes.length, offset);
    }
  } finally {
    await file.close();
  }
}
