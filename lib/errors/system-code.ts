/** The code of a failed system call, such as ENOENT or ENOSPC. */

/** Null for errors that carry none. */
export const systemCode = (error: unknown): string | null =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
