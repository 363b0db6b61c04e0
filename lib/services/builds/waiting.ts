/** Waiting for the end of a build: signals wake, the row decides, and a slow poll covers lost signals. */
import type { BuildRepository } from "../../db/build-repository.ts";
import type { BuildRecord } from "../../domain/build-record.ts";
import { isRunning } from "../../domain/build-state.ts";
import { AppError } from "../../errors/app-error.ts";
import type { BuildSignals } from "../../queue/signals.ts";

const POLL_MS = 2_000;

export interface BuildWaiting {
  /** The finished row. Rejects with `cancelled` when the signal aborts. */
  untilFinished(buildId: string, signal: AbortSignal): Promise<BuildRecord>;
}

interface Watch {
  /** Settles with the finished row; never rejects. */
  finished: Promise<BuildRecord>;
  stop: () => void;
  waiters: number;
}

/** One watch per build and process, however many requests wait. */
export function createBuildWaiting(
  builds: BuildRepository,
  signals: BuildSignals,
  onError: (error: unknown) => void,
): BuildWaiting {
  const watches = new Map<string, Watch>();
  return {
    async untilFinished(buildId, signal) {
      const watch = watches.get(buildId) ?? startWatch(buildId, builds, signals, onError);
      watches.set(buildId, watch);
      watch.waiters += 1;
      try {
        return await orAborted(watch.finished, signal);
      } finally {
        watch.waiters -= 1;
        if (watch.waiters === 0) {
          watch.stop();
          if (watches.get(buildId) === watch) watches.delete(buildId);
        }
      }
    },
  };
}

function startWatch(
  buildId: string,
  builds: BuildRepository,
  signals: BuildSignals,
  onError: (error: unknown) => void,
): Watch {
  let stop = () => {};
  const finished = new Promise<BuildRecord>((resolve) => {
    let looking = false;
    let again = false;
    const look = async () => {
      if (looking) {
        again = true;
        return;
      }
      looking = true;
      do {
        again = false;
        try {
          const build = await builds.find(buildId);
          if (build !== null && !isRunning(build.state)) {
            stop();
            resolve(build);
          }
        } catch (error) {
          onError(error);
        }
      } while (again);
      looking = false;
    };
    const off = signals.listen(buildId, (signal) => {
      if (signal === "changed") void look();
    });
    const timer = setInterval(() => void look(), POLL_MS);
    stop = () => {
      off();
      clearInterval(timer);
    };
    void look();
  });
  return { finished, stop: () => stop(), waiters: 0 };
}

function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () =>
      reject(new AppError("cancelled", "the request went away while it waited", { cause: signal.reason }));
    if (signal.aborted) return leave();
    signal.addEventListener("abort", leave, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}
