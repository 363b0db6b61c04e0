/** A full disk: how it is recognised, and what is said of it. */
import { AppError, type AppErrorExtra } from "./app-error.ts";
import { systemCode } from "./system-code.ts";

const CODES = new Set(["ENOSPC", "EDQUOT"]);
const WORDS = /no space left on device|disk quota exceeded|\bENOSPC\b|disk full/i;

/** True for the error of a system call that found no room, quotas included. */
export const isDiskFull = (error: unknown): boolean => CODES.has(systemCode(error) ?? "");

/** True when a program's words say so. */
export const saysDiskFull = (text: string): boolean => WORDS.test(text);

/** out_of_space with this sentence. */
export const diskFull = (sentence: string, extra: Pick<AppErrorExtra, "cause" | "details"> = {}): AppError =>
  new AppError("out_of_space", sentence, {
    hint: "Free space under DATA_DIR (cache, scratch) or move it to a larger disk, then try again.",
    ...extra,
  });
