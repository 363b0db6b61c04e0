/** What a disk image's META partition holds when it leaves the factory. */
import { invalidInput } from "../errors/app-error.ts";
import type { Bootloader, MetaValue } from "./recipe-types.ts";

/** Tells the first boot which of two boot loaders to drop; see docs/versions.md for who gets two. */
export const BOOTLOADER_META_KEY = 0x11;
/** Bytes that records may take in a 256 KiB block, heads included. */
const CAPACITY = 262076;
const RECORD_HEAD = 8;

/**
 * Values of the META partition ordered by key, a repeated key keeping its last value; null when the partition stays
 * empty. A dual-boot image carries the choice of boot loader. Throws invalid_input when the values do not fit.
 */
export function metaPartitionValues(
  meta: readonly MetaValue[],
  bootloader: Bootloader | null,
): MetaValue[] | null {
  const values = new Map(meta.map(({ key, value }) => [key, value]));
  if (bootloader === "dual-boot") values.set(BOOTLOADER_META_KEY, "dual-boot");
  if (values.size === 0) return null;
  const list = [...values].map(([key, value]) => ({ key, value })).sort((a, b) => a.key - b.key);
  const encoder = new TextEncoder();
  const size = list.reduce((sum, { value }) => sum + RECORD_HEAD + encoder.encode(value).length, 0);
  if (size > CAPACITY) {
    throw invalidInput(`META values take ${size} bytes, a disk image holds ${CAPACITY}`, {
      hint: "Shorten the values, or hand the data over in the machine configuration.",
    });
  }
  return list;
}
