/** How a failure crosses processes: AppError in the worker, JSON in the row, the same AppError in the request. */

import type { BuildError, BuildRecord } from "../../domain/build-record.ts";
import { MOST_FAILURES, mayHeal } from "../../domain/build-retry.ts";
import { AppError, type AppErrorExtra, type ErrorCode, notFound, STATUS } from "../../errors/app-error.ts";
import { diskFull, isDiskFull } from "../../errors/disk-full.ts";

/** A build that was never there, or whose row is gone. */
export const buildMissing = (buildId: string): AppError =>
  notFound(`build ${buildId} does not exist`, { hint: "List the builds at /api/v1/builds" });

/** Where a build was when it failed. */
export interface FailurePlace {
  phase: string | null;
  step: string | null;
}

const UNREACHABLE = new Set(["ECONNREFUSED", "ECONNRESET", "ENOTFOUND", "EAI_AGAIN", "EPIPE", "ETIMEDOUT"]);

/** Any thrown value as the error that is written into the build's row. */
export function toBuildError(thrown: unknown, place: FailurePlace): BuildError {
  const error = asAppError(thrown);
  const detail = { ...(place.phase === null ? {} : place), ...error.extra.details };
  return {
    code: error.code,
    message: error.message,
    ...(error.extra.hint === undefined ? {} : { hint: error.extra.hint }),
    ...(Object.keys(detail).length === 0 ? {} : { detail }),
    retryable: mayHeal(error),
  };
}

/** Known system errors get a sentence of their own, also behind a step that failed; the rest is `internal`. */
function asAppError(thrown: unknown): AppError {
  const known = systemError(thrown);
  if (known !== null) return known;
  if (thrown instanceof AppError) {
    const behind = thrown.code === "build_failed" ? systemError(thrown.extra.cause) : null;
    if (behind === null) return thrown;
    const details = { ...thrown.extra.details, ...behind.extra.details };
    return new AppError(behind.code, behind.message, { ...behind.extra, details });
  }
  return new AppError("internal", "the build ended with an error that should not happen", {
    hint: "Please report it with the build's id and its log.",
    details: {
      cause: thrown instanceof Error ? `${thrown.name}: ${thrown.message}`.slice(0, 500) : String(thrown),
    },
    cause: thrown,
  });
}

function systemError(thrown: unknown): AppError | null {
  if (!(thrown instanceof Error) || thrown instanceof AppError || !("code" in thrown)) return null;
  const code = String(thrown.code);
  if (isDiskFull(thrown)) {
    return diskFull("the disk of the worker is full", { details: { cause: code }, cause: thrown });
  }
  if (!UNREACHABLE.has(code)) return null;
  return new AppError("upstream_unavailable", `a service the build needs did not answer (${code})`, {
    hint: "Ask again in a minute; /readyz names what is away.",
    details: { cause: code },
    cause: thrown,
  });
}

/** The error a request gets for a build that did not become ready. */
export function buildFailure(build: BuildRecord): AppError {
  const error = build.error ?? { code: "internal", message: "the build failed and left no reason" };
  const extra: AppErrorExtra = {
    details: { ...error.detail, buildId: build.id },
    retryable: error.retryable ?? false,
  };
  if (error.hint !== undefined) extra.hint = error.hint;
  const code = isErrorCode(error.code) ? error.code : "build_failed";
  if (code === "upstream_unavailable") extra.retryAfterSeconds = 30;
  return new AppError(code, error.message, extra);
}

const isErrorCode = (code: string): code is ErrorCode => code in STATUS;

/** Reasons for which a build is cancelled. */
export const abandoned: BuildError = {
  code: "cancelled",
  message: "the build was cancelled because nobody waited for it any more",
  hint: "Ask for the file again to start a new build.",
  detail: { reason: "abandoned" },
  retryable: true,
};

export const alreadyMade: BuildError = {
  code: "cancelled",
  message: "the build was not needed: another one made the same file meanwhile",
  hint: "Ask for the file again; it is there.",
  detail: { reason: "already_made" },
  retryable: true,
};

export const cancelledByRequest: BuildError = {
  code: "cancelled",
  message: "the build was cancelled",
  hint: "Ask for the file again to start a new build.",
  detail: { reason: "requested" },
  retryable: true,
};

export const workerLost = (failures: number): BuildError => ({
  code: "build_failed",
  message: `the worker died while it made this file; it was try ${failures} of ${MOST_FAILURES}`,
  hint: "See the worker's log; often the machine is short of memory. Ask again to try once more.",
  detail: { reason: "worker_lost", failures },
  retryable: false,
});
