/** What the end of the command says to scripts. */
import { AppError, type ErrorCode } from "../lib/errors/app-error.ts";

const CODES: Partial<Record<ErrorCode, number>> = {
  invalid_input: 2,
  not_implemented: 3,
  not_found: 5,
  source_invalid: 5,
  upstream_unavailable: 5,
  unauthenticated: 5,
  forbidden: 5,
  tool_failed: 5,
  timed_out: 5,
  out_of_space: 6,
  too_large: 6,
  build_failed: 7,
};
/** Codes of the operating system for files that cannot be used. */
const FILE_TROUBLE = new Set(["ENOENT", "EACCES", "EPERM", "EISDIR", "ENOTDIR", "EROFS", "EEXIST", "EIO"]);

/** 1 unknown, 2 wrong input, 3 not supported, 5 images and tools, 6 files, 7 assembly. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof AppError) return CODES[error.code] ?? 1;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return FILE_TROUBLE.has(code) ? 6 : 1;
}

/** What went wrong in sentences for people, the last lines of a tool included. */
export function describeError(error: unknown): string {
  if (!(error instanceof AppError)) return error instanceof Error ? error.message : String(error);
  const { hint, details } = error.extra;
  const tail = Array.isArray(details?.tail) ? details.tail.map((line) => `  ${line}`) : [];
  return [error.message, ...tail, ...(hint === undefined ? [] : [hint])].join("\n");
}
