/** When a request is tried again and how long to wait before: exponential backoff with full jitter, Retry-After first. */
import { AppError } from "../errors/app-error.ts";

export interface RetryPolicy {
  /** Tries in all, the first one included. */
  attempts: number;
  baseDelayMs: number;
  maxDelayMs: number;
  /** A registry that asks for a longer pause than this is reported instead of waited for. */
  maxRetryAfterMs: number;
}

/** Time and chance, replaceable in tests. */
export interface Clock {
  now(): number;
  /** 0 ≤ x < 1. */
  random(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** What one try gives: an answer, or why it should be tried again. */
export type Attempt<T> =
  | { ok: true; value: T }
  | { ok: false; reason: string; retryAfterMs?: number; cause?: unknown };

export const DEFAULT_RETRY: RetryPolicy = {
  attempts: 5,
  baseDelayMs: 300,
  maxDelayMs: 10_000,
  maxRetryAfterMs: 60_000,
};

export const systemClock: Clock = {
  now: () => Date.now(),
  random: () => Math.random(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      }, ms);
      signal?.addEventListener("abort", onAbort, { once: true });
    }),
};

const AGAIN = new Set([408, 425, 429, 500, 502, 503, 504]);
const DEFAULT_RETRY_AFTER_SECONDS = 30;

/** True for the statuses after which the same request may succeed later (RFC 9110 §15, RFC 6585 §4). */
export function isRetryableStatus(status: number): boolean {
  return AGAIN.has(status);
}

/** Milliseconds of a Retry-After value, seconds or HTTP date (RFC 9110 §10.2.3); undefined when absent or unreadable. */
export function parseRetryAfter(value: string | null, nowMs: number): number | undefined {
  if (value === null) return undefined;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value.trim()) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

/** Pause before try number `tries + 1`: full jitter over an exponentially growing window. */
export function backoffMs(policy: RetryPolicy, tries: number, random: number): number {
  const window = Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** (tries - 1));
  return Math.round(window * (0.5 + random / 2));
}

/**
 * Runs `attempt` until it gives an answer. Throws upstream_unavailable naming `what` and the last reason when the tries
 * are used up or the registry asks for a longer pause than the policy allows; `cancelled` when the signal aborts.
 */
export async function retrying<T>(
  what: string,
  policy: RetryPolicy,
  clock: Clock,
  signal: AbortSignal | undefined,
  attempt: () => Promise<Attempt<T>>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    throwIfCancelled(what, signal);
    const outcome = await attempt();
    if (outcome.ok) return outcome.value;
    throwIfCancelled(what, signal);
    const asked = outcome.retryAfterMs;
    if (tries >= policy.attempts || (asked !== undefined && asked > policy.maxRetryAfterMs)) {
      throw unavailable(what, outcome.reason, asked, outcome.cause);
    }
    try {
      await clock.sleep(Math.max(asked ?? 0, backoffMs(policy, tries, clock.random())), signal);
    } catch {
      throwIfCancelled(what, signal);
    }
  }
}

/** upstream_unavailable "cannot fetch <what>: <reason>" with a Retry-After for the client. */
export function unavailable(what: string, reason: string, retryAfterMs?: number, cause?: unknown): AppError {
  return new AppError("upstream_unavailable", `cannot fetch ${what}: ${reason}`, {
    hint: "The source registry does not answer as it should; try again later or check SOURCE_REGISTRY",
    retryAfterSeconds:
      retryAfterMs === undefined ? DEFAULT_RETRY_AFTER_SECONDS : Math.max(1, Math.ceil(retryAfterMs / 1000)),
    cause,
  });
}

/** Throws `cancelled` naming what was being fetched when the signal has aborted. */
export function throwIfCancelled(what: string, signal: AbortSignal | undefined): void {
  if (signal?.aborted) {
    throw new AppError("cancelled", `fetching ${what} was cancelled`, { cause: signal.reason });
  }
}
