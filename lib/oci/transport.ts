/** One request to the registry: credentials, retries, time limits, and redirects followed by hand. */
import { AppError } from "../errors/app-error.ts";
import type { Authenticator } from "./auth.ts";
import { type RegistryResponse, type ResponseTie, toRegistryResponse } from "./response-body.ts";
import {
  type Attempt,
  type Clock,
  isRetryableStatus,
  parseRetryAfter,
  type RetryPolicy,
  retrying,
  throwIfCancelled,
  unavailable,
} from "./retry.ts";

export interface TransportOptions {
  /** Scheme, host and port of the registry. */
  origin: string;
  authenticator: Authenticator;
  /** Where people set the credentials, for hints. */
  credentialSettings: string;
  fetch: typeof fetch;
  clock: Clock;
  retry: RetryPolicy;
  /** Until the response headers are there. */
  headersTimeoutMs: number;
  /** Between two chunks of a body. */
  idleTimeoutMs: number;
  userAgent: string;
}

export interface RegistryRequest {
  method: "GET" | "HEAD";
  address: URL;
  /** As the registry names it, path prefix included: what the token is asked for. */
  repository: string;
  /** For messages: "siderolabs/imager:v1.13.2". */
  what: string;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

export type Transport = (request: RegistryRequest) => Promise<RegistryResponse>;

interface Hop {
  response: RegistryResponse;
  /** False once a redirect has left the registry's origin. */
  fromRegistry: boolean;
}

const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Statuses that mean something to the caller; every other one is retried or thrown. */
const ANSWERS = new Set([200, 206, 404, 405, 416]);

/**
 * Sends requests to one registry. Credentials go to its origin only: a redirect that leaves it loses them for good, and
 * only challenges of the registry itself are answered. Throws upstream_unavailable, or cancelled.
 */
export function createTransport(options: TransportOptions): Transport {
  return (request) =>
    retrying(request.what, options.retry, options.clock, request.signal, () => attempt(options, request));
}

async function attempt(
  options: TransportOptions,
  request: RegistryRequest,
): Promise<Attempt<RegistryResponse>> {
  const { authenticator } = options;
  let authorization = await authenticator.known(request.repository, request.signal);
  for (let round = 1; ; round += 1) {
    let hop: Hop;
    try {
      hop = await follow(options, request, authorization);
    } catch (cause) {
      if (cause instanceof AppError) throw cause;
      return { ok: false, reason: reasonOf(cause), cause };
    }
    const { response, fromRegistry } = hop;
    if (ANSWERS.has(response.status)) return { ok: true, value: response };
    await response.discard();
    if (response.status === 401 && fromRegistry && round === 1) {
      const header = response.headers.get("www-authenticate") ?? "";
      const next = await authenticator.answer(request.repository, header, authorization, request.signal);
      if (next === null)
        throw refused(request.what, response.status, authorization !== null, options.credentialSettings);
      authorization = next;
      continue;
    }
    return judge(options, request.what, hop, authorization !== null);
  }
}

/** Decides about an answer that the caller cannot use: try again, or give up with a reason. */
function judge(
  options: TransportOptions,
  what: string,
  { response, fromRegistry }: Hop,
  authorized: boolean,
): Attempt<RegistryResponse> {
  const { status, headers } = response;
  const reason = fromRegistry ? `the registry answers ${status}` : `the registry's storage answers ${status}`;
  const retryAfterMs = parseRetryAfter(headers.get("retry-after"), options.clock.now());
  // A refusal of the place a registry redirects to means that the signed address ran out; the next try gets a new one.
  if (isRetryableStatus(status) || (!fromRegistry && (status === 401 || status === 403))) {
    return { ok: false, reason, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  }
  if (status === 401 || status === 403) throw refused(what, status, authorized, options.credentialSettings);
  throw unavailable(what, reason, retryAfterMs);
}

async function follow(
  options: TransportOptions,
  request: RegistryRequest,
  authorization: string | null,
): Promise<Hop> {
  let address = request.address;
  let fromRegistry = true;
  for (let redirects = 0; ; redirects += 1) {
    const headers = {
      ...request.headers,
      "user-agent": options.userAgent,
      // Ranges and digests are over the stored bytes: no transparent compression on the way.
      "accept-encoding": "identity",
      ...(fromRegistry && authorization !== null ? { authorization } : {}),
    };
    const { response, tie } = await send(options, request, address, headers);
    const location = REDIRECTS.has(response.status) ? response.headers.get("location") : null;
    if (location === null) return { response: toRegistryResponse(response, tie), fromRegistry };
    await toRegistryResponse(response, tie).discard();
    if (redirects >= MAX_REDIRECTS) throw unavailable(request.what, "the registry redirects in circles");
    address = redirectTarget(request.what, options.origin, address, location);
    fromRegistry = fromRegistry && address.origin === options.origin;
  }
}

function redirectTarget(what: string, origin: string, from: URL, location: string): URL {
  const target = URL.canParse(location, from) ? new URL(location, from) : null;
  const downgrade = target?.protocol === "http:" && origin.startsWith("https:");
  if (!target || downgrade || !/^https?:$/.test(target.protocol)) {
    throw unavailable(what, "the registry redirects to an address that is not allowed");
  }
  // Credentials inside an address would be sent as Basic by fetch's callers; a redirect has no business with them.
  target.username = "";
  target.password = "";
  return target;
}

async function send(
  options: TransportOptions,
  request: RegistryRequest,
  address: URL,
  headers: Record<string, string>,
): Promise<{ response: Response; tie: ResponseTie }> {
  const controller = new AbortController();
  const { signal } = request;
  const onAbort = () => controller.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  const tie: ResponseTie = {
    what: request.what,
    signal,
    abort: (reason) => controller.abort(reason),
    release: () => signal?.removeEventListener("abort", onAbort),
    idleTimeoutMs: options.idleTimeoutMs,
  };
  const timer = setTimeout(() => controller.abort(new Error("no answer in time")), options.headersTimeoutMs);
  try {
    throwIfCancelled(request.what, signal);
    const response = await options.fetch(address, {
      method: request.method,
      headers,
      redirect: "manual",
      signal: controller.signal,
    });
    return { response, tie };
  } catch (cause) {
    tie.release();
    throwIfCancelled(request.what, signal);
    throw cause;
  } finally {
    clearTimeout(timer);
  }
}

/** The innermost message of a failed fetch: undici wraps the interesting one. */
function reasonOf(cause: unknown): string {
  let error: unknown = cause;
  while (error instanceof Error && error.cause !== undefined) error = error.cause;
  const message = error instanceof AggregateError ? String(error.errors[0]) : String(error);
  return `the registry cannot be reached (${message.replace(/^(?:Type)?Error: /, "")})`;
}

function refused(what: string, status: number, authorized: boolean, settings: string): AppError {
  return new AppError("upstream_unavailable", `cannot fetch ${what}: the registry answers ${status}`, {
    hint: authorized
      ? `Check ${settings}, and that this account may read the repository`
      : `The registry wants credentials; set ${settings}`,
    retryable: false,
  });
}
