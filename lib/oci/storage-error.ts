/** Turns a full disk into the error that people understand. */
import { diskFull, isDiskFull } from "../errors/disk-full.ts";

/** out_of_space when the file system has no room left; every other error as it is. */
export const toStorageError = (error: unknown): unknown =>
  isDiskFull(error)
    ? diskFull("there is no room left for what comes from the source registry", { cause: error })
    : error;
