/** For questions where a refusal is an answer. */
import { AppError } from "./app-error.ts";

/** What `work` gives; null when it refuses. Everything else that goes wrong is thrown on. */
export function orNull<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}
