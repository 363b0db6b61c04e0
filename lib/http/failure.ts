/** The one place that turns a thrown thing into a reply: status, headers and body in the dialect of the route. */
import { AppError, type ErrorCode } from "../errors/app-error.ts";

export type Dialect = "text" | "problem" | "oci";

export interface FailureReply {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Codes of the OCI distribution spec for our own. */
const OCI_CODES: Partial<Record<ErrorCode, string>> = {
  invalid_input: "UNSUPPORTED",
  not_found: "MANIFEST_UNKNOWN",
  unauthenticated: "UNAUTHORIZED",
  forbidden: "DENIED",
  not_implemented: "UNSUPPORTED",
  queue_full: "TOOMANYREQUESTS",
};

/** Anything that is not an AppError becomes "internal": the cause is for the log, never for the reply. */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  return new AppError("internal", "The factory failed to answer this request", {
    hint: "Try again; if it fails again, give the operator the request ID",
    cause: thrown,
  });
}

/** The dialect of a path: /v2 speaks OCI, /api/v1 RFC 9457, everything else plain text. */
export function dialectOf(path: string): Dialect {
  if (path === "/v2" || path.startsWith("/v2/")) return "oci";
  return path.startsWith("/api/") ? "problem" : "text";
}

/** Seconds after which a second try may go better, where the failure does not say: what came from elsewhere may be mended by then. */
const RETRY_AFTER: Readonly<Record<number, number>> = { 502: 30, 503: 10, 504: 30 };

const headerSafe = (text: string) => text.replace(/[^\x20-\x7e]+/g, " ").slice(0, 400);

function commonHeaders(error: AppError): Record<string, string> {
  const headers: Record<string, string> = {
    "X-Content-Type-Options": "nosniff",
    "X-Error-Code": error.code,
    "Cache-Control": "no-store",
  };
  if (error.extra.hint) headers["X-Error-Hint"] = headerSafe(error.extra.hint);
  const retryAfter = error.extra.retryAfterSeconds ?? RETRY_AFTER[error.status];
  if (retryAfter !== undefined) headers["Retry-After"] = String(retryAfter);
  const buildId = error.extra.details?.buildId;
  if (typeof buildId === "string") headers.Link = `</api/v1/builds/${buildId}>; rel="describedby"`;
  return headers;
}

const textBody = (error: AppError, requestId: string) =>
  error.status < 500 ? `${error.message}\n` : `${error.message} (request ${requestId})\n`;

/** RFC 9457 problem details with our code, hint and request ID. */
const problemBody = (error: AppError, requestId: string) =>
  `${JSON.stringify({
    type: "about:blank",
    title: error.code,
    status: error.status,
    detail: error.message,
    code: error.code,
    hint: error.extra.hint,
    requestId,
    details: error.extra.details,
  })}\n`;

/** The error object of the OCI distribution spec, "Error Codes". */
function ociBody(error: AppError, requestId: string): string {
  const given = error.extra.details?.ociCode;
  const code = typeof given === "string" ? given : (OCI_CODES[error.code] ?? "UNKNOWN");
  const detail = {
    code: error.code,
    hint: error.extra.hint,
    requestId,
    ...error.extra.details,
    ociCode: undefined,
  };
  return `${JSON.stringify({ errors: [{ code, message: error.message, detail }] })}\n`;
}

/** Builds the reply. 5xx bodies always name the request ID. */
export function failureReply(thrown: unknown, dialect: Dialect, requestId: string): FailureReply {
  const error = toAppError(thrown);
  const headers = commonHeaders(error);
  if (dialect === "problem") {
    headers["Content-Type"] = "application/problem+json";
    return { status: error.status, headers, body: problemBody(error, requestId) };
  }
  if (dialect === "oci") {
    headers["Content-Type"] = "application/json";
    headers["Docker-Distribution-Api-Version"] = "registry/2.0";
    return { status: error.status, headers, body: ociBody(error, requestId) };
  }
  headers["Content-Type"] = "text/plain; charset=utf-8";
  return { status: error.status, headers, body: textBody(error, requestId) };
}
