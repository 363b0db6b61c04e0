/** Writes that end an attempt must not be lost because Postgres is away for a moment. */
import type { Logger } from "pino";

const TRIES = 6;
const PAUSE_MS = 2_000;

/** The result of the write, tried again for about ten seconds; then the error, and the reconciler has to find the row. */
export async function writeRow<T>(write: () => Promise<T>, log: Logger): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      if (attempt === TRIES) throw error;
      log.warn({ err: error }, "row not written, trying again");
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}
