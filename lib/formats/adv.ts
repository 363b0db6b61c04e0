/** The META partition: tagged values in two equal copies, docs/disk-images.md, "META". */
import { sha256 } from "@noble/hashes/sha2.js";
import { invalidInput } from "../errors/app-error.ts";

export interface MetaRecord {
  /** 1 to 255; 0 ends the list. */
  tag: number;
  value: string;
}

/** Size of the partition and of its image, bytes. */
export const META_BYTES = 1024 * 1024;
const BLOCK_BYTES = 256 * 1024;
const MAGIC_START = 0x5a4b3c2d;
const MAGIC_END = 0xa5b4c3d2;
const HASH_OFFSET = BLOCK_BYTES - 36;
/** Records may fill this much, headers of 8 bytes included; a node refuses to add to a fuller list. */
export const RECORDS_LIMIT = 262_076;
/** Bytes of a record before its value. */
export const RECORD_HEAD = 8;

/**
 * One block of 256 KiB, big-endian: magic, records (tag, length, value) in ascending tag order, a zero tag,
 * SHA-256 over the block with the hash itself zeroed, closing magic. A tag given twice keeps the last value.
 */
function metaBlock(records: readonly MetaRecord[]): Uint8Array {
  const block = new Uint8Array(BLOCK_BYTES);
  const view = new DataView(block.buffer);
  view.setUint32(0, MAGIC_START);
  view.setUint32(BLOCK_BYTES - 4, MAGIC_END);
  const values = new Map(records.map(({ tag, value }) => [tag, new TextEncoder().encode(value)]));
  const used = [...values.values()].reduce((sum, value) => sum + value.length + RECORD_HEAD, 0);
  if (used > RECORDS_LIMIT) {
    throw invalidInput(`the META values need ${used} bytes, ${RECORDS_LIMIT} is the limit`, {
      hint: "Shorten the values of customization.meta.",
    });
  }
  let at = 4;
  for (const [tag, value] of [...values].sort(([a], [b]) => a - b)) {
    if (!Number.isInteger(tag) || tag < 1 || tag > 255)
      throw invalidInput(`META key ${tag} is not between 1 and 255`);
    view.setUint32(at, tag);
    view.setUint32(at + 4, value.length);
    block.set(value, at + 8);
    at += 8 + value.length;
  }
  block.set(sha256(block), HASH_OFFSET);
  return block;
}

/**
 * The whole META partition of 1 MiB: the block twice, the rest zero. invalid_input when the values do not fit
 * or a tag is out of range.
 */
export function metaPartition(records: readonly MetaRecord[]): Uint8Array {
  const block = metaBlock(records);
  const image = new Uint8Array(META_BYTES);
  image.set(block, 0);
  image.set(block, BLOCK_BYTES);
  return image;
}
