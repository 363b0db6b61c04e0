/** Recognizes our errors where they cross from the server into the pages, whose bundle holds a class of its own. */
import type { AppError } from "./app-error.ts";

/** True for an AppError of this or another bundle; `instanceof` knows only the own one. */
export const isAppError = (error: unknown): error is AppError =>
  error instanceof Error && error.name === "AppError" && "code" in error && "extra" in error;
