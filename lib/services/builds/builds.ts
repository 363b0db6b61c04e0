/** Builds as people see them: list, one, cancel, live events. */
import type { AssetRepository } from "../../db/asset-repository.ts";
import type { BuildFilter } from "../../db/build-repository.ts";
import type { BuildRecord } from "../../domain/build-record.ts";
import { isRunning } from "../../domain/build-state.ts";
import { AppError } from "../../errors/app-error.ts";
import { jobOf } from "../../queue/jobs.ts";
import type { Producer } from "../../queue/producer.ts";
import type { Waiters } from "../../queue/waiters.ts";
import type { BuildService, BuildView } from "../contracts.ts";
import { settleWithin } from "../settle-within.ts";
import { buildMissing, cancelledByRequest } from "./errors.ts";
import { type BuildEventsOptions, doneData, followBuild } from "./events.ts";
import type { ForecastFor } from "./forecasting.ts";
import { toBuildView, toReadyAsset } from "./view.ts";

const MOST_LISTED = 200;

export interface BuildServiceOptions extends BuildEventsOptions {
  assets: AssetRepository;
  waiters: Waiters;
  producer: Producer;
  forecast: ForecastFor;
}

/** The build use cases. */
export function createBuildService(options: BuildServiceOptions): BuildService {
  const { builds } = options;

  /** One question to each server, however many builds. */
  async function views(rows: BuildRecord[]): Promise<BuildView[]> {
    const running = rows.filter((row) => isRunning(row.state)).map((row) => row.id);
    const ready = rows.filter((row) => row.state === "ready").map((row) => row.assetKey);
    // Only numbers on a page: without Redis they are simply zero.
    const counting = options.waiters.count(running).catch(() => []);
    const [assets, counts] = await Promise.all([options.assets.findMany(ready), counting]);
    const waiters = new Map(running.map((id, index) => [id, counts[index] ?? 0]));
    return rows.map((row) => {
      const asset = assets.get(row.assetKey);
      return toBuildView(row, asset === undefined ? null : toReadyAsset(asset), waiters.get(row.id) ?? 0);
    });
  }

  async function view(row: BuildRecord): Promise<BuildView> {
    const [only] = await views([row]);
    return only ?? toBuildView(row, null, 0);
  }

  return {
    async list(filter) {
      const wanted: BuildFilter = { ...filter, limit: Math.max(1, Math.min(filter.limit, MOST_LISTED)) };
      return views(await builds.list(wanted));
    },
    findRunning: async (assetKeys) => views(await builds.findAllRunning(assetKeys)),
    async find(id) {
      const build = await builds.find(id);
      if (build === null) return null;
      const [seen, forecast] = await Promise.all([view(build), options.forecast(build)]);
      return { ...seen, forecast };
    },
    async cancel(id) {
      if (!(await builds.move(id, "cancel", {}, { error: cancelledByRequest })))
        throw await notCancelled(options, id);
      const build = await builds.find(id);
      if (build === null) throw buildMissing(id);
      await tell(options, build);
      return view(build);
    },
    events: (id, follow) => followBuild(options, id, follow),
  };
}

/** Wakes waiters and the worker, and takes the job out of the queue; all of it may fail, the row has the truth. */
async function tell(
  { streams, signals, producer, onError }: BuildServiceOptions,
  build: BuildRecord,
): Promise<void> {
  const done = streams.append(build.id, { type: "done", data: doneData(build) });
  const told = done.catch(onError).then(() => signals.publish(build.id, "changed"));
  await settleWithin([told, producer.withdraw("asset.build", jobOf(build))], onError);
}

async function notCancelled({ builds }: BuildServiceOptions, id: string): Promise<AppError> {
  const build = await builds.find(id);
  if (build === null) return buildMissing(id);
  return new AppError("conflict", `build ${id} is already ${build.state}`, {
    hint: "Only queued and running builds can be cancelled.",
    retryable: false,
  });
}
