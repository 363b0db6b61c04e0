/** GUID partition tables of disk images: protective MBR, both headers, both entry arrays (UEFI 2.10 chapter 5). */
import { AppError } from "../errors/app-error.ts";
import { crc32 } from "./crc32.ts";
import { guidBytes } from "./guid.ts";

export interface GptPartition {
  /** Up to 36 UTF-16 units. */
  name: string;
  /** Partition type GUID. */
  type: string;
  guid: string;
  /** Bit field of UEFI 2.10 table 5.6; only the low 32 bits are used. */
  attributes: number;
  /** Bytes, a multiple of 1 MiB; "rest" takes what is left and must come last. */
  size: number | "rest";
}

export interface GptDisk {
  guid: string;
  /** Bytes, a multiple of the sector size. */
  diskBytes: number;
  sectorSize: number;
  /** Sectors left free between the header and the entries, for boot loaders of boards. */
  entriesOffset: number;
  partitions: readonly GptPartition[];
}

export interface PlacedPartition extends GptPartition {
  firstLba: number;
  /** Inclusive. */
  lastLba: number;
}

export interface GptLayout {
  sectorSize: number;
  lastLba: number;
  entriesLba: number;
  firstUsableLba: number;
  lastUsableLba: number;
  secondaryEntriesLba: number;
  partitions: PlacedPartition[];
}

/** Bytes to write at a place of the disk. */
export interface DiskWrite {
  offset: number;
  bytes: Uint8Array;
}

const ENTRY_COUNT = 128;
const ENTRY_BYTES = 128;
const ENTRIES_BYTES = ENTRY_COUNT * ENTRY_BYTES;
const HEADER_BYTES = 92;
const ALIGNMENT_BYTES = 1024 * 1024;
/** Where the partition table of an MBR begins; what is before is boot code. */
export const MBR_TABLE_OFFSET = 446;

const roundUp = (value: number, unit: number): number => Math.ceil(value / unit) * unit;

/** Where everything goes: partitions follow each other in the given order, each on a 1 MiB boundary. */
export function gptLayout(disk: GptDisk): GptLayout {
  const { sectorSize, diskBytes } = disk;
  const align = ALIGNMENT_BYTES / sectorSize;
  const entrySectors = ENTRIES_BYTES / sectorSize;
  const lastLba = diskBytes / sectorSize - 1;
  const entriesLba = 2 + disk.entriesOffset;
  const firstUsableLba = roundUp(entriesLba + entrySectors, align);
  const secondaryEntriesLba = lastLba - entrySectors;
  const lastUsableLba = secondaryEntriesLba - 1;
  let next = firstUsableLba;
  const partitions = disk.partitions.map((partition): PlacedPartition => {
    const end = Math.floor(lastUsableLba / align) * align;
    const sectors = partition.size === "rest" ? end - next : roundUp(partition.size / sectorSize, align);
    const placed = { ...partition, firstLba: next, lastLba: next + sectors - 1 };
    if (sectors <= 0 || placed.lastLba > lastUsableLba) {
      throw new AppError(
        "internal",
        `the partition ${partition.name} does not fit on a disk of ${diskBytes} bytes`,
        {
          hint: "Choose a larger disk image size.",
          retryable: false,
        },
      );
    }
    next = placed.lastLba + 1;
    return placed;
  });
  return { sectorSize, lastLba, entriesLba, firstUsableLba, lastUsableLba, secondaryEntriesLba, partitions };
}

/** The four pieces of the table, in disk order; MBR boot code and the gap behind the header are not among them. */
export function gptWrites(disk: GptDisk): DiskWrite[] {
  const layout = gptLayout(disk);
  const { sectorSize, lastLba, entriesLba, secondaryEntriesLba } = layout;
  const entries = entryArray(layout.partitions);
  const primary = header(disk.guid, layout, entries, { here: 1, other: lastLba, entries: entriesLba });
  const secondary = header(disk.guid, layout, entries, {
    here: lastLba,
    other: 1,
    entries: secondaryEntriesLba,
  });
  return [
    { offset: MBR_TABLE_OFFSET, bytes: protectiveMbrTable(lastLba) },
    { offset: sectorSize, bytes: primary },
    { offset: entriesLba * sectorSize, bytes: entries },
    { offset: secondaryEntriesLba * sectorSize, bytes: entries },
    { offset: lastLba * sectorSize, bytes: secondary },
  ];
}

/** Bytes 446 to 511 of the protective MBR: one entry of type EE over the whole disk, not bootable. */
function protectiveMbrTable(lastLba: number): Uint8Array {
  const bytes = new Uint8Array(512 - MBR_TABLE_OFFSET);
  bytes.set([0x00, 0x00, 0x02, 0x00, 0xee, 0xff, 0xff, 0xff]);
  const view = new DataView(bytes.buffer);
  view.setUint32(8, 1, true);
  view.setUint32(12, Math.min(lastLba, 0xffffffff), true);
  bytes.set([0x55, 0xaa], 64);
  return bytes;
}

function entryArray(partitions: readonly PlacedPartition[]): Uint8Array {
  const bytes = new Uint8Array(ENTRIES_BYTES);
  const view = new DataView(bytes.buffer);
  for (const [index, partition] of partitions.entries()) {
    const at = index * ENTRY_BYTES;
    bytes.set(guidBytes(partition.type), at);
    bytes.set(guidBytes(partition.guid), at + 16);
    view.setBigUint64(at + 32, BigInt(partition.firstLba), true);
    view.setBigUint64(at + 40, BigInt(partition.lastLba), true);
    view.setBigUint64(at + 48, BigInt(partition.attributes), true);
    for (const [unit, character] of partition.name.split("").entries()) {
      view.setUint16(at + 56 + unit * 2, character.charCodeAt(0), true);
    }
  }
  return bytes;
}

interface HeaderPlace {
  here: number;
  other: number;
  entries: number;
}

/** UEFI 2.10 table 5.5; both checksums filled in, 92 bytes used, as many as the header size says. */
function header(diskGuid: string, layout: GptLayout, entries: Uint8Array, place: HeaderPlace): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  bytes.set(new TextEncoder().encode("EFI PART"));
  view.setUint32(8, 0x00010000, true);
  view.setUint32(12, HEADER_BYTES, true);
  view.setBigUint64(24, BigInt(place.here), true);
  view.setBigUint64(32, BigInt(place.other), true);
  view.setBigUint64(40, BigInt(layout.firstUsableLba), true);
  view.setBigUint64(48, BigInt(layout.lastUsableLba), true);
  bytes.set(guidBytes(diskGuid), 56);
  view.setBigUint64(72, BigInt(place.entries), true);
  view.setUint32(80, ENTRY_COUNT, true);
  view.setUint32(84, ENTRY_BYTES, true);
  view.setUint32(88, crc32(entries), true);
  view.setUint32(16, crc32(bytes), true);
  return bytes;
}
