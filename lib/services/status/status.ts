/** Reads how the factory does from rows, Redis, the store and the source; nothing here may fail because a part is away. */
import type { AssetRepository } from "../../db/asset-repository.ts";
import type { BuildRepository } from "../../db/build-repository.ts";
import type { BuildStatistics } from "../../db/build-statistics.ts";
import type { HourlyCounter } from "../../queue/hourly-counter.ts";
import type { WorkerPresence } from "../../queue/worker-presence.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { HealthService, ReleaseService } from "../contracts.ts";
import type { FactoryStatus, StatusService } from "./contracts.ts";
import { createStoreUse } from "./store-use.ts";

const HOURS = 24;

export interface StatusServiceOptions {
  health: HealthService;
  releases: ReleaseService;
  builds: BuildRepository;
  statistics: BuildStatistics;
  assets: AssetRepository;
  presence: WorkerPresence;
  downloads: HourlyCounter;
  store: ObjectStore;
  now: () => number;
  onError: (error: unknown) => void;
}

/** The status use case. */
export function createStatusService(options: StatusServiceOptions): StatusService {
  const { health, builds, statistics, assets, downloads, store, onError } = options;
  const countStore = createStoreUse(options);

  /** The value, or the other one when its server is away; the log says why. */
  async function unlessAway<T>(work: Promise<T>, otherwise: T): Promise<T> {
    try {
      return await work;
    } catch (error) {
      onError(error);
      return otherwise;
    }
  }

  return {
    async read() {
      const none = { queued: 0, building: 0, uploading: 0, ready: 0, failed: 0, cancelled: 0 };
      const [checks, counts, steps, active, byKind, folders, served, present, releases] = await Promise.all([
        health.readiness(),
        unlessAway(statistics.counts(HOURS), none),
        unlessAway(statistics.steps(HOURS), { all: 0, cached: 0 }),
        unlessAway(builds.active(), []),
        unlessAway(assets.use(), []),
        countStore(),
        unlessAway<number | null>(downloads.sum(HOURS), null),
        unlessAway(options.presence.look(), null),
        readReleases(options.releases),
      ]);
      const running = (name: string) => active.filter((build) => build.worker === name).length;
      return {
        checks,
        builds: counts,
        workers:
          present?.map(({ name, slots }, index) => ({
            number: index + 1,
            host: name.split("/", 1)[0] ?? name,
            ...{ slots, running: running(name) },
          })) ?? null,
        reuse: { downloads: served, built: counts.ready, steps: steps.all, stepsCached: steps.cached },
        store: { kind: store.kind, assets: byKind, folders },
        ...releases,
      };
    },
  };
}

async function readReleases(releases: ReleaseService): Promise<Pick<FactoryStatus, "source" | "releases">> {
  const summaries = await releases.summaries().catch(() => []);
  const listed = summaries.filter((release) => release.state === "complete");
  const incomplete = summaries.filter((release) => release.state === "incomplete");
  return {
    source: releases.status(),
    releases: {
      listed: listed.length,
      newest: listed[0]?.version ?? null,
      incomplete: incomplete.map(({ version, missing }) => ({ version, missing })),
    },
  };
}
