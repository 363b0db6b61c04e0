/** For questions where a refusal is an answer. */
import { isAppError } from "./is-app-error.ts";

/** What `work` gives; null when it refuses. Everything else that goes wrong is thrown on. */
export function orNull<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (isAppError(error)) return null;
    throw error;
  }
}
