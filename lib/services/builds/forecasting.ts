/** What a build is told about its place in the queue and its end, from the rows of builds before it. */
import type { BuildRepository } from "../../db/build-repository.ts";
import type { BuildStatistics } from "../../db/build-statistics.ts";
import { type BuildForecast, forecastBuild } from "../../domain/build-forecast.ts";
import type { BuildRecord } from "../../domain/build-record.ts";
import type { WorkerPresence } from "../../queue/worker-presence.ts";

export interface ForecastingOptions {
  builds: BuildRepository;
  statistics: BuildStatistics;
  presence: WorkerPresence;
  now: () => number;
}

/** Null for a build that is over. */
export type ForecastFor = (build: BuildRecord) => Promise<BuildForecast | null>;

/** The forecast of one build; without Redis as if as many builds could run as do. */
export function createForecasting({ builds, statistics, presence, now }: ForecastingOptions): ForecastFor {
  const elapsedOf = ({ startedAt }: BuildRecord) =>
    startedAt === null ? 0 : Math.max(0, now() - startedAt.getTime());

  return async (build) => {
    if (build.finishedAt !== null) return null;
    const waits = build.state === "queued";
    const [ahead, active, workers] = await Promise.all([
      waits ? statistics.ahead(build.id) : [],
      waits ? builds.active() : [],
      waits ? presence.look().catch(() => []) : [],
    ]);
    const usual = await statistics.usualMs([build.path, ...ahead, ...active.map((other) => other.path)]);
    const usualOf = (path: string) => usual.get(path) ?? null;
    const rest = (other: BuildRecord) => {
      const ms = usualOf(other.path);
      return ms === null ? null : Math.max(0, ms - elapsedOf(other));
    };
    const slots = workers.reduce((sum, worker) => sum + worker.slots, 0);
    return forecastBuild({
      ahead: ahead.map(usualOf),
      running: active.map(rest),
      slots: Math.max(1, slots, active.length),
      own: usualOf(build.path),
      elapsed: waits ? null : elapsedOf(build),
    });
  };
}
