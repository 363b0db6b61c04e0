/** Turns a full disk into the error that people understand. */
import { AppError } from "../errors/app-error.ts";
import { systemCode } from "../errors/system-code.ts";

const FULL = new Set(["ENOSPC", "EDQUOT"]);

/** out_of_space when the file system has no room left; every other error as it is. */
export function toStorageError(error: unknown): unknown {
  const code = systemCode(error);
  if (code === null || !FULL.has(code)) return error;
  return new AppError("out_of_space", "there is no room left for what comes from the source registry", {
    hint: "free space below DATA_DIR, or move it to a larger disk",
    cause: error,
  });
}
