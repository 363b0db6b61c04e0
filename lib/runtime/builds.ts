/** Joins everything about builds: queue, waiting, workers' tools. Used by the runtime and, with fakes for ports, by tests. */
import type { Redis } from "ioredis";
import type { Logger } from "pino";
import { createAssetRepository } from "../db/asset-repository.ts";
import { createBuildRepository } from "../db/build-repository.ts";
import { createBuildStatistics } from "../db/build-statistics.ts";
import type { Database } from "../db/client.ts";
import { createEventStreams } from "../queue/event-stream.ts";
import { createHourlyCounter } from "../queue/hourly-counter.ts";
import { createProducer } from "../queue/producer.ts";
import { createBuildSignals } from "../queue/signals.ts";
import { createWaiters } from "../queue/waiters.ts";
import { createWorkerPresence } from "../queue/worker-presence.ts";
import { createAssetService } from "../services/assets/assets.ts";
import { createFirstUse } from "../services/assets/first-use.ts";
import { createReadyAssets } from "../services/assets/ready-assets.ts";
import { createBuildService } from "../services/builds/builds.ts";
import { createForecasting } from "../services/builds/forecasting.ts";
import { createBuildStarting } from "../services/builds/starting.ts";
import { createBuildWaiting } from "../services/builds/waiting.ts";
import type {
  AssetRequest,
  AssetService,
  BuildService,
  ReleaseService,
  ResolvedAsset,
} from "../services/contracts.ts";
import { UsageRecorder } from "../services/usage-recorder.ts";
import type { ObjectStore } from "../storage/object-store.ts";

export interface BuildSideOptions {
  db: Database;
  /** For commands. */
  redis: Redis;
  /** For the one subscription of the process. */
  subscriber: Redis;
  store: ObjectStore;
  prefix: string;
  log: Logger;
  now: () => number;
  resolve: (request: AssetRequest) => Promise<ResolvedAsset>;
  releases: Pick<ReleaseService, "require" | "askAgain">;
}

export type BuildSide = ReturnType<typeof createBuildSide>;

/** The shared half of web and worker: both see rows, streams and signals in the same way. */
export function createBuildSide(options: BuildSideOptions) {
  const { db, redis, subscriber, store, prefix, log, now, resolve, releases } = options;
  const onError = (error: unknown) => log.warn({ err: error }, "trouble beside a build");
  const builds = createBuildRepository(db);
  const assetRows = createAssetRepository(db);
  const streams = createEventStreams(redis, prefix);
  const signals = createBuildSignals({ redis, subscriber, prefix, onError });
  const waiters = createWaiters(redis, prefix, onError);
  const producer = createProducer({ connection: redis, prefix, onError });
  const downloads = createHourlyCounter({ redis, name: `${prefix}:downloads`, now, onError });
  const usage = new UsageRecorder((keys) => assetRows.touch(keys), onError);
  const ready = createReadyAssets({ assets: assetRows, store, usage });
  const starting = createBuildStarting({ builds, producer, streams, log, now, ready });
  const waiting = createBuildWaiting(builds, signals, onError);
  const assets: AssetService = createAssetService({
    ...{ resolve, ready, starting, waiting, waiters },
    mayMake: createFirstUse({ builds, releases }),
    onDownload: () => downloads.note(),
  });
  const shared = { builds, streams, signals, store, onError };
  const presence = createWorkerPresence(redis, prefix);
  const statistics = createBuildStatistics(db);
  const forecast = createForecasting({ builds, statistics, presence, now });
  const service: BuildService = createBuildService({
    ...shared,
    ...{ assets: assetRows, waiters, producer, forecast },
  });
  return {
    assets,
    service,
    ready,
    builds,
    streams,
    signals,
    waiters,
    producer,
    presence,
    statistics,
    downloads,
    assetRows,
    async close() {
      await downloads.close();
      await usage.close();
      await signals.close();
      await producer.close();
    },
  };
}
