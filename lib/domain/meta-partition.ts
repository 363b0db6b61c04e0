/** Says before any build whether META values fit the partition of a disk image; lib/formats/adv.ts writes it. */
import { invalidInput } from "../errors/app-error.ts";
import { RECORD_HEAD, RECORDS_LIMIT } from "../formats/adv.ts";
import type { Bootloader, MetaValue } from "./recipe-types.ts";

/** A dual-boot image carries one more record, which tells the first boot which boot loader to drop. */
const BOOTLOADER_RECORD = RECORD_HEAD + "dual-boot".length;

/**
 * Throws invalid_input for key 0, which ends the list of records, and for values that do not fit. A repeated key
 * counts once, with its last value.
 */
export function checkMetaPartition(meta: readonly MetaValue[], bootloader: Bootloader | null): void {
  if (meta.some(({ key }) => key === 0)) {
    throw invalidInput("META key 0x0 cannot be stored in a disk image", {
      hint: "Key 0 ends the list of values; use a key from 0x1 to 0xff.",
    });
  }
  const encoder = new TextEncoder();
  const values = new Map(meta.map(({ key, value }) => [key, encoder.encode(value).length + RECORD_HEAD]));
  const own = bootloader === "dual-boot" ? BOOTLOADER_RECORD : 0;
  const size = [...values.values()].reduce((sum, bytes) => sum + bytes, own);
  if (size > RECORDS_LIMIT) {
    throw invalidInput(`META values take ${size} bytes, a disk image holds ${RECORDS_LIMIT}`, {
      hint: "Shorten the values, or hand the data over in the machine configuration.",
    });
  }
}
