/** What part of an object a byte range means. */
import { AppError } from "../errors/app-error.ts";
import type { ByteRange } from "./object-store.ts";

/** The range cut to the object, the whole object without one; range_not_satisfiable when it begins past the end. */
export function clipRange(range: ByteRange | undefined, sizeBytes: number, key: string): ByteRange {
  if (!range) return { start: 0, end: sizeBytes - 1 };
  const sane = Number.isSafeInteger(range.start) && Number.isSafeInteger(range.end) && range.start >= 0;
  if (!sane || range.start > range.end || range.start >= sizeBytes) {
    throw new AppError(
      "range_not_satisfiable",
      `${key} has ${sizeBytes} bytes; bytes ${range.start}-${range.end} are not there`,
      {
        retryable: false,
        details: { sizeBytes },
      },
    );
  }
  return { start: range.start, end: Math.min(range.end, sizeBytes - 1) };
}
