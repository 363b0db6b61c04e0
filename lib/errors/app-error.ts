/** The one error class thrown on purpose: a stable code, a sentence for people, and what they can do next. */

export const STATUS = {
  invalid_input: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  too_large: 413,
  range_not_satisfiable: 416,
  build_failed: 500,
  tool_failed: 500,
  internal: 500,
  not_implemented: 501,
  cancelled: 503,
  /** What the source registry sent is damaged, hostile or not signed as it must be. */
  source_invalid: 502,
  queue_full: 503,
  upstream_unavailable: 503,
  timed_out: 504,
  out_of_space: 507,
} as const;

export type ErrorCode = keyof typeof STATUS;

export interface AppErrorExtra {
  /** What the person can do next. */
  hint?: string;
  /** Safe to show: tool name, exit code, last lines, field paths. */
  details?: Record<string, unknown>;
  /** False: a second try of the same work cannot succeed. */
  retryable?: boolean;
  /** Seconds for Retry-After. */
  retryAfterSeconds?: number;
  /** Never shown, only logged. */
  cause?: unknown;
}

export class AppError extends Error {
  override readonly name = "AppError";
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly extra: AppErrorExtra = {},
  ) {
    super(message, extra.cause === undefined ? undefined : { cause: extra.cause });
  }
  get status(): number {
    return STATUS[this.code];
  }
}

export const invalidInput = (message: string, extra: AppErrorExtra = {}) =>
  new AppError("invalid_input", message, { retryable: false, ...extra });

export const notFound = (message: string, extra: AppErrorExtra = {}) =>
  new AppError("not_found", message, { retryable: false, ...extra });
