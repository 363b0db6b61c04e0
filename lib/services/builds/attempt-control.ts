/** Everything that can stop a running attempt: timeout, lost claim, cancellation, nobody waiting, shutdown. */
import type { Logger } from "pino";
import type { BuildRepository } from "../../db/build-repository.ts";
import type { BuildClaim } from "../../domain/build-record.ts";
import { AppError } from "../../errors/app-error.ts";
import type { BuildSignals } from "../../queue/signals.ts";
import { abandoned } from "./errors.ts";
import type { IdleWatch } from "./idle-watch.ts";
import type { ProgressTracker } from "./progress.ts";

export const HEARTBEAT_MS = 3_000;

export interface AttemptControlOptions {
  builds: BuildRepository;
  signals: BuildSignals;
  idle: IdleWatch;
  claim: BuildClaim;
  progress: ProgressTracker;
  timeoutMs: number;
  log: Logger;
  /** Aborts when the worker must end. */
  shutdown: AbortSignal;
}

/** Why an attempt was stopped; `claim-lost` also stands for a cancellation, the row tells which. */
export type StopReason = "timeout" | "claim-lost" | "shutdown";

export class AttemptControl {
  readonly #options: AttemptControlOptions;
  readonly #controller = new AbortController();
  readonly #timers: NodeJS.Timeout[];
  readonly #off: () => void;
  readonly #onShutdown = () =>
    this.#stop("shutdown", new AppError("cancelled", "the worker is being stopped"));
  #beating = false;
  #beatAgain = false;
  #finishing = false;
  #closed = false;
  #reason: StopReason | null = null;

  constructor(options: AttemptControlOptions) {
    this.#options = options;
    const { timeoutMs, signals, claim, shutdown } = options;
    const minutes = Math.round(timeoutMs / 6_000) / 10;
    const timedOut = new AppError("timed_out", `the build took longer than the allowed ${minutes} minutes`, {
      hint: "Set BUILD_TIMEOUT higher, or give the worker a faster machine.",
      retryable: false,
    });
    this.#timers = [
      setInterval(() => this.beat(), HEARTBEAT_MS),
      setTimeout(() => this.#stop("timeout", timedOut), timeoutMs),
    ];
    this.#off = signals.listen(claim.id, (signal) => {
      if (signal === "changed") this.beat();
    });
    if (shutdown.aborted) this.#onShutdown();
    else shutdown.addEventListener("abort", this.#onShutdown, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why it was stopped, null when it was not. */
  get reason(): StopReason | null {
    return this.#reason;
  }

  /** Writes heartbeat and progress now, and looks whether the build is still wanted. */
  beat(): void {
    if (this.#reason !== null) return;
    this.#beatAgain = this.#beating;
    if (this.#beating) return;
    this.#beating = true;
    this.#look()
      // Postgres is away: the work goes on, and the guard on the row decides at the end.
      .catch((error: unknown) => this.#options.log.warn({ err: error }, "heartbeat not written"))
      .finally(() => {
        this.#beating = false;
        // Asked for while this one was on its way: the row must show the newest phase.
        if (this.#beatAgain && !this.#closed) this.beat();
      });
  }

  /** From here on only the row decides: the artifact is stored. */
  finishing(): void {
    this.#finishing = true;
  }

  close(): void {
    this.#closed = true;
    for (const timer of this.#timers) clearInterval(timer);
    this.#off();
    this.#options.shutdown.removeEventListener("abort", this.#onShutdown);
  }

  async #look(): Promise<void> {
    const { builds, claim, progress, idle, signals } = this.#options;
    const alive = await builds.heartbeat(claim, progress.row());
    if (this.#finishing) return;
    if (alive === null) return this.#lost();
    if (alive.detached || !(await idle.isAbandoned(claim.id)) || this.#finishing) return;
    if (!(await builds.move(claim.id, "cancel", { claim, attached: true }, { error: abandoned }))) return;
    await signals.publish(claim.id, "changed");
    this.#lost();
  }

  #lost(): void {
    this.#stop("claim-lost", new AppError("cancelled", "the build was cancelled or given to another worker"));
  }

  #stop(reason: StopReason, error: AppError): void {
    if (this.#reason !== null || this.#finishing) return;
    this.#reason = reason;
    this.#controller.abort(error);
  }
}
