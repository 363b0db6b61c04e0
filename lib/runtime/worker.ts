/** Joins what only a worker has: imager, caches, identity. */
import type { Redis } from "ioredis";
import type { Logger } from "pino";
import { inDataDir } from "../config/data-folders.ts";
import type { Config } from "../config/types.ts";
import type { RunTool } from "../exec/run.ts";
import type { KeyFiles } from "../keys/types.ts";
import type { SourceImages } from "../oci/types.ts";
import type { WorkerPresence } from "../queue/worker-presence.ts";
import type { AttemptOptions } from "../services/builds/attempt.ts";
import { GRACE_MS, IdleWatch } from "../services/builds/idle-watch.ts";
import { type ReconcilingOptions, STALE_MS } from "../services/builds/reconciling.ts";
import { createWorkerIdentity } from "../services/builds/worker-identity.ts";
import { createWorkerContainers } from "../services/imager-containers.ts";
import { createInputFetcher } from "../services/inputs/input-fetcher.ts";
import { LocalCache } from "../services/inputs/local-cache.ts";
import { createPartCache } from "../services/inputs/part-cache.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { BuildSide } from "./builds.ts";

const PARTS_BYTES = 20 * 2 ** 30;
const INPUTS_BYTES = 20 * 2 ** 30;

export interface WorkerSide {
  attempt: AttemptOptions;
  reconciling: ReconcilingOptions;
  /** For blocking reads of the queue. */
  connection: Redis;
  prefix: string;
  concurrency: number;
  presence: WorkerPresence;
  close(): Promise<void>;
}

export interface WorkerSideOptions {
  config: Pick<Config, "dataDir" | "build">;
  side: BuildSide;
  store: ObjectStore;
  images: SourceImages;
  connection: Redis;
  prefix: string;
  log: Logger;
  now: () => number;
  run: RunTool;
  runPlan: AttemptOptions["runPlan"];
  /** Null when SecureBoot is off. */
  keys?: AttemptOptions["keys"];
  /** Where the keys are, for imagers that are run; null when SecureBoot is off. */
  keyFiles?: KeyFiles | null;
  /** Milliseconds; the defaults unless given. */
  graceMs?: number;
  staleMs?: number;
}

/** The worker's half; nothing runs until workers/worker-process.ts starts it. */
export async function createWorkerSide(options: WorkerSideOptions): Promise<WorkerSide> {
  const { config, side, store, images, connection, prefix, log, now, run, runPlan, keys } = options;
  const identity = await createWorkerIdentity();
  const onError = (error: unknown) => log.warn({ err: error }, "trouble in a cache");
  // An entry may be in use for as long as a build may take.
  const minIdleMs = 2 * config.build.timeoutMs;
  const cache = (name: "cache/inputs" | "cache/parts", maxBytes: number) =>
    new LocalCache({ dir: inDataDir(config.dataDir, name), maxBytes, minIdleMs, onError });
  const inputs = cache("cache/inputs", INPUTS_BYTES);
  const { engine } = config.build;
  const containers =
    engine.kind === "native"
      ? null
      : createWorkerContainers({ settings: engine, run, cache: inputs, keyFiles: options.keyFiles ?? null });
  const partFiles = cache("cache/parts", PARTS_BYTES);
  const parts = createPartCache({ cache: partFiles, store, run, onError });
  const idle = new IdleWatch(side.waiters, options.graceMs ?? GRACE_MS, now);
  const { builds, streams, signals, producer } = side;
  await Promise.all([inputs.sweep(), partFiles.sweep()]);
  return {
    attempt: {
      ...{ builds, streams, signals, producer, store, parts, idle, run, runPlan, now, keys: keys ?? null },
      containers,
      fetcher: createInputFetcher({ images, cache: inputs }),
      images,
      worker: identity.name,
      scratchDir: inDataDir(config.dataDir, "scratch"),
      timeoutMs: config.build.timeoutMs,
    },
    reconciling: {
      ...{ builds, producer, streams, signals, idle, identity, log },
      staleMs: options.staleMs ?? STALE_MS,
    },
    connection,
    prefix,
    concurrency: config.build.concurrency,
    presence: side.presence,
    close: () => parts.close(),
  };
}
