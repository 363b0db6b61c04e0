/** The life of a worker: clean up after the dead, take jobs, reconcile now and then, end in time. */
import { mkdir } from "node:fs/promises";
import type { ConnectionOptions } from "bullmq";
import type { Logger } from "pino";
import { startWorkers, type Workers } from "../lib/queue/worker.ts";
import type { WorkerPresence } from "../lib/queue/worker-presence.ts";
import type { AttemptOptions } from "../lib/services/builds/attempt.ts";
import {
  cleanScratch,
  isAttemptAlive,
  type ReconcilingOptions,
  reconcile,
} from "../lib/services/builds/reconciling.ts";
import type { BootTestService } from "../lib/services/own/contracts.ts";
import { assetBuildHandler } from "./asset-build.ts";
import { startContainerRounds } from "./container-rounds.ts";
import { bootTestHandler } from "./extension-boot-test.ts";

const RECONCILE_MS = 10_000;
/** How long running builds may go on after a stop was asked for, before they are handed back. */
const FINISH_MS = 7_000;
/** No writer is at one file for so long. */
const LEFTOVER_MS = 24 * 3_600_000;

export interface WorkerProcessOptions {
  attempt: AttemptOptions;
  reconciling: ReconcilingOptions;
  bootTests: Pick<BootTestService, "run">;
  /** For blocking reads of the queue. */
  connection: ConnectionOptions;
  prefix: string;
  concurrency: number;
  presence: WorkerPresence;
  reconcileMs?: number;
  finishMs?: number;
  log: Logger;
}

export interface WorkerProcess {
  /** Takes no more jobs, lets running builds finish for a moment, hands the rest back. */
  stop(): Promise<void>;
}

/** Resolves when the worker takes jobs. */
export async function startWorkerProcess(options: WorkerProcessOptions): Promise<WorkerProcess> {
  const { attempt, reconciling, log } = options;
  await mkdir(attempt.scratchDir, { recursive: true });
  await round(options);
  const removed = await cleanScratch(attempt.builds, attempt.scratchDir);
  if (removed > 0) log.info({ removed }, "scratch folders of dead builds removed");
  await sweepStore(options);
  const endContainerRounds = startRoundsOfContainers(options);
  const rounds = everyWhile(options.reconcileMs ?? RECONCILE_MS, () => round(options));
  const shutdown = new AbortController();
  const workers = startWorkers({
    connection: options.connection,
    prefix: options.prefix,
    concurrency: options.concurrency,
    log,
    handlers: {
      "asset.build": assetBuildHandler(attempt, shutdown.signal),
      "extension.boot-test": bootTestHandler(options.bootTests, shutdown.signal),
    },
  });
  log.info({ worker: reconciling.identity.name, concurrency: options.concurrency }, "worker is ready");
  return {
    async stop() {
      endContainerRounds();
      // A round that is under way still needs the connections.
      await Promise.all([rounds.stop(), stopWorkers(workers, shutdown, options)]);
      // Silence says the same half a minute later.
      await options.presence.leave(reconciling.identity.name).catch(() => undefined);
    },
  };
}

async function stopWorkers(
  workers: Workers,
  shutdown: AbortController,
  options: WorkerProcessOptions,
): Promise<void> {
  const limit = setTimeout(() => {
    options.log.info("handing running builds back");
    shutdown.abort();
  }, options.finishMs ?? FINISH_MS);
  await workers.close();
  clearTimeout(limit);
}

async function sweepStore({ attempt, log }: WorkerProcessOptions): Promise<void> {
  const removed = await attempt.store.removeLeftovers(LEFTOVER_MS).catch((error: unknown) => {
    log.warn({ err: error }, "the store could not be swept");
    return 0;
  });
  if (removed > 0) log.info({ removed }, "unfinished files removed from the store");
}

async function round(options: WorkerProcessOptions): Promise<void> {
  const { reconciling, presence, concurrency, log } = options;
  const trouble = (message: string) => (error: unknown) => log.warn({ err: error }, message);
  await presence
    .say({ name: reconciling.identity.name, slots: concurrency })
    .catch(trouble("the worker could not say that it is there"));
  await reconcile(reconciling).catch(trouble("reconciling failed"));
}

/** Containers of docker and podman outlive a worker that was killed. */
function startRoundsOfContainers({ attempt, reconcileMs, log }: WorkerProcessOptions): () => void {
  const { containers, builds } = attempt;
  if (!containers) return () => undefined;
  const isAlive = (owner: string) => isAttemptAlive(builds, owner);
  return startContainerRounds({ containers, isAlive, everyMs: reconcileMs ?? RECONCILE_MS, log });
}

/** Like setInterval, without a second round while one is running. Stopping waits for the one that runs. */
function everyWhile(ms: number, work: () => Promise<void>): { stop: () => Promise<void> } {
  let running: Promise<void> | null = null;
  const timer = setInterval(() => {
    running ??= work().finally(() => {
      running = null;
    });
  }, ms);
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
