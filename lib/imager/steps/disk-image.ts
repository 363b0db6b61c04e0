/** Step disk-image: partition table, partitions, boot code and META put together into one sparse raw disk. */
import { type FileHandle, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../errors/app-error.ts";
import { type MetaRecord, metaPartition } from "../../formats/adv.ts";
import { type GptDisk, type GptLayout, gptLayout, gptWrites, MBR_TABLE_OFFSET } from "../../formats/gpt.ts";
import { patchedBootImage, patchedCoreImage } from "../../formats/grub-bios.ts";
import { fixedVhdFooter } from "../../formats/vhd.ts";
import { SOURCE_DATE_EPOCH } from "../epoch.ts";
import { dataExtents } from "../pack/segments.ts";
import { choiceParam, listParam, need, numberParam, objectParam, textParam } from "../params.ts";
import type { Json, Product, StepContext, StepFunction } from "../types.ts";
import { writeAll } from "../write-all.ts";
import { requireInGap } from "./board-gap.ts";
import { BOARD_DISK } from "./overlay-install.ts";
import { readOverlayOptions } from "./overlay-options.ts";

const COPY_BYTES = 4 * 1024 * 1024;
const ZERO = Buffer.alloc(64 * 1024);

type Params = Record<string, Json>;

/**
 * Params: diskBytes, sectorSize, diskGuid, entriesOffset (sectors, or { need } with a board's answer), partitions (as GptPartition), contents (a list of
 * { partition, need }), grub (number of the need with the BIOS images, or null), meta (records, or null to leave the
 * partition zero), footer ("none" or "vhd"), prepared (number of the need with a board's disk; missing without).
 * Needs: partition images, the BIOS images, what the board wrote.
 */
export const diskImage: StepFunction = async (params, needs, ctx) => {
  const disk = await diskOf(params, needs);
  const layout = gptLayout(disk);
  const path = join(ctx.dir, "disk.raw");
  const file = await open(path, "w+");
  try {
    await file.truncate(disk.diskBytes);
    if (params.prepared !== undefined) {
      const board = join(need(needs, numberParam(params, "prepared")).path, BOARD_DISK);
      await requireInGap(board, layout, ctx);
      await copySparse(board, file, 0, ctx);
    }
    for (const content of listParam(params, "contents")) {
      const offset = partitionOffset(layout, textParam(content, "partition"));
      await copySparse(need(needs, numberParam(content, "need")).path, file, offset, ctx);
    }
    if (params.meta !== null) {
      const image = metaPartition(listParam(params, "meta").map(metaRecord));
      await writeAll(file, image, partitionOffset(layout, "META"));
    }
    if (params.grub !== null) await writeBootCode(file, layout, need(needs, numberParam(params, "grub")));
    for (const { offset, bytes } of gptWrites(disk)) await writeAll(file, bytes, offset);
    if (choiceParam(params, "footer", ["none", "vhd"]) === "vhd") {
      await writeAll(file, fixedVhdFooter(disk.diskBytes, SOURCE_DATE_EPOCH), disk.diskBytes);
    }
  } finally {
    await file.close();
  }
  return { path, shape: "file" };
};

async function diskOf(params: Params, needs: readonly Product[]): Promise<GptDisk> {
  return {
    guid: textParam(params, "diskGuid"),
    diskBytes: numberParam(params, "diskBytes"),
    sectorSize: numberParam(params, "sectorSize"),
    entriesOffset: await entriesOffset(params, needs),
    partitions: listParam(params, "partitions").map((partition) => ({
      name: textParam(partition, "name"),
      type: textParam(partition, "type"),
      guid: textParam(partition, "guid"),
      attributes: numberParam(partition, "attributes"),
      size: partition.size === "rest" ? "rest" : numberParam(partition, "size"),
    })),
  };
}

async function entriesOffset(params: Params, needs: readonly Product[]): Promise<number> {
  if (typeof params.entriesOffset === "number") return params.entriesOffset;
  const index = numberParam(objectParam(params, "entriesOffset"), "need");
  return (await readOverlayOptions(need(needs, index))).offset;
}

const metaRecord = (record: Params): MetaRecord => ({
  tag: numberParam(record, "tag"),
  value: textParam(record, "value"),
});

function partitionOffset(layout: GptLayout, name: string): number {
  const partition = layout.partitions.find((candidate) => candidate.name === name);
  if (partition === undefined) throw new AppError("internal", `the disk has no partition ${name}`);
  return partition.firstLba * layout.sectorSize;
}

/** Boot sector code up to the partition table, and the core at the start of the BIOS partition. */
async function writeBootCode(file: FileHandle, layout: GptLayout, grub: Product): Promise<void> {
  const offset = partitionOffset(layout, "BIOS");
  const sector = offset / layout.sectorSize;
  const boot = patchedBootImage(await readFile(join(grub.path, "boot.img")), sector);
  const core = patchedCoreImage(await readFile(join(grub.path, "core.img")), sector);
  await writeAll(file, boot.subarray(0, MBR_TABLE_OFFSET), 0);
  await writeAll(file, core, offset);
}

/** Copies a partition image into the disk; its holes and blocks of zeros become holes. */
async function copySparse(source: string, disk: FileHandle, base: number, ctx: StepContext): Promise<void> {
  const image = await open(source, "r");
  const buffer = Buffer.alloc(COPY_BYTES);
  try {
    for (const { offset, length } of await dataExtents(source, ctx)) {
      for (let at = offset; at < offset + length; ) {
        ctx.signal.throwIfAborted();
        const { bytesRead } = await image.read(buffer, 0, Math.min(COPY_BYTES, offset + length - at), at);
        if (bytesRead === 0) break;
        await writeNonZero(disk, buffer.subarray(0, bytesRead), base + at);
        at += bytesRead;
      }
    }
  } finally {
    await image.close();
  }
}

async function writeNonZero(disk: FileHandle, bytes: Buffer, offset: number): Promise<void> {
  let from = 0;
  for (let at = 0; at < bytes.length; at += ZERO.length) {
    const end = Math.min(at + ZERO.length, bytes.length);
    if (ZERO.compare(bytes, at, end, 0, end - at) !== 0) continue;
    if (at > from) await writeAll(disk, bytes.subarray(from, at), offset + from);
    from = end;
  }
  if (bytes.length > from) await writeAll(disk, bytes.subarray(from), offset + from);
}
