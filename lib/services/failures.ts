/** Failures of the servers behind us in words for people; everything else stays what it is. */
import { isDatabaseAway } from "../db/database-away.ts";
import { AppError } from "../errors/app-error.ts";

const RETRY_AFTER_SECONDS = 5;

/** upstream_unavailable (503) for a database that does not answer. */
export function nameFailure(error: unknown): unknown {
  if (error instanceof AppError || !isDatabaseAway(error)) return error;
  return new AppError("upstream_unavailable", "The database does not answer", {
    hint: "Try again in a few seconds; if it stays away, tell the operator",
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause: error,
  });
}
