/** Checks that a board's boot loader lies where the partition table leaves room, so that nothing overwrites anything. */
import { open } from "node:fs/promises";
import { AppError } from "../../errors/app-error.ts";
import type { GptLayout } from "../../formats/gpt.ts";
import { dataExtents } from "../pack/segments.ts";
import type { StepContext } from "../types.ts";

interface Range {
  from: number;
  /** Exclusive. */
  to: number;
  what: string;
}

const CHUNK = 1024 * 1024;
const ZERO = Buffer.alloc(CHUNK);
const ENTRIES_BYTES = 16_384;

/** Bytes the disk needs for itself: GPT header and entries (UEFI 2.10 §5.3), partitions, the second table. */
function takenRanges({ sectorSize, entriesLba, firstUsableLba, lastLba }: GptLayout): Range[] {
  const entries = entriesLba * sectorSize;
  return [
    { from: sectorSize, to: 2 * sectorSize, what: "the header of the partition table" },
    { from: entries, to: entries + ENTRIES_BYTES, what: "the partition table" },
    { from: firstUsableLba * sectorSize, to: (lastLba + 1) * sectorSize, what: "the partitions" },
  ];
}

/** source_invalid naming the place when the disk holds anything but zeros where something else belongs. */
export async function requireInGap(path: string, layout: GptLayout, ctx: StepContext): Promise<void> {
  const taken = takenRanges(layout);
  const extents = await dataExtents(path, ctx);
  const file = await open(path, "r");
  try {
    const buffer = Buffer.allocUnsafe(CHUNK);
    for (const { offset, length } of extents) {
      for (const range of taken) {
        const from = Math.max(offset, range.from);
        const to = Math.min(offset + length, range.to);
        for (let at = from; at < to; at += CHUNK) {
          ctx.signal.throwIfAborted();
          const { bytesRead } = await file.read(buffer, 0, Math.min(CHUNK, to - at), at);
          if (ZERO.compare(buffer, 0, bytesRead, 0, bytesRead) === 0) continue;
          throw clash(at, range, layout);
        }
      }
    }
  } finally {
    await file.close();
  }
}

function clash(at: number, { what }: Range, { entriesLba, sectorSize }: GptLayout): AppError {
  const room = (entriesLba - 2) * sectorSize;
  return new AppError("source_invalid", `the board overlay wrote to the disk where ${what} must be`, {
    hint: `It asked for ${room} bytes behind the header, and wrote at or behind byte ${at}.`,
    retryable: false,
  });
}
