/** Joins callers that ask for the same thing at the same time: one piece of work, many waiters. */
import { AppError } from "../errors/app-error.ts";

interface Flight<T, P> {
  result: Promise<T>;
  controller: AbortController;
  waiters: number;
  listeners: Set<(event: P) => void>;
}

export interface FlightOptions<P> {
  /** Leaving: the caller gets `cancelled`; the work stops only when nobody waits for it any more. */
  signal?: AbortSignal | undefined;
  onProgress?: ((event: P) => void) | undefined;
}

/** One flight per key; a failure reaches everybody who waited and is not kept. */
export class SingleFlight<T, P = never> {
  readonly #flights = new Map<string, Flight<T, P>>();

  /** Starts the work, or joins the one that runs under the same key. */
  async join(
    key: string,
    work: (signal: AbortSignal, report: (event: P) => void) => Promise<T>,
    options: FlightOptions<P> = {},
  ): Promise<T> {
    const { signal, onProgress } = options;
    if (signal?.aborted) throw left(key, signal);
    const flight = this.#flights.get(key) ?? this.#start(key, work);
    flight.waiters += 1;
    if (onProgress) flight.listeners.add(onProgress);
    try {
      return await untilAborted(flight.result, key, signal);
    } finally {
      flight.waiters -= 1;
      if (onProgress) flight.listeners.delete(onProgress);
      if (flight.waiters === 0) {
        if (this.#flights.get(key) === flight) this.#flights.delete(key);
        flight.controller.abort(new AppError("cancelled", `nobody waits for ${key} any more`));
      }
    }
  }

  #start(key: string, work: (signal: AbortSignal, report: (event: P) => void) => Promise<T>): Flight<T, P> {
    const controller = new AbortController();
    const listeners = new Set<(event: P) => void>();
    const report = (event: P) => {
      for (const listener of listeners) listener(event);
    };
    const result = work(controller.signal, report).finally(() => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
    });
    // Whoever waits sees the failure; this keeps a flight that everybody left from being an unhandled rejection.
    result.catch(() => undefined);
    const flight: Flight<T, P> = { result, controller, waiters: 0, listeners };
    this.#flights.set(key, flight);
    return flight;
  }
}

function untilAborted<T>(result: Promise<T>, key: string, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return result;
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(left(key, signal));
    signal.addEventListener("abort", onAbort, { once: true });
    result.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

function left(key: string, signal: AbortSignal): AppError {
  return new AppError("cancelled", `waiting for ${key} was cancelled`, { cause: signal.reason });
}
