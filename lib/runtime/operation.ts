/** Joins what operators and people who come back need: the status of the factory, and presets. */
import type { Logger } from "pino";
import type { Database } from "../db/client.ts";
import { createPresetRepository } from "../db/preset-repository.ts";
import type { HealthService, ReleaseService, SchematicService } from "../services/contracts.ts";
import { createPresetService } from "../services/schematics/presets.ts";
import { createStatusService } from "../services/status/status.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import type { BuildSide } from "./builds.ts";

export interface OperationSideOptions {
  db: Database;
  side: BuildSide;
  store: ObjectStore;
  health: HealthService;
  releases: ReleaseService;
  schematics: SchematicService;
  log: Logger;
  now: () => number;
}

/** Status and presets over what is there already. */
export function createOperationSide(options: OperationSideOptions) {
  const { db, side, store, health, releases, schematics, log, now } = options;
  const { builds, statistics, presence, downloads, assetRows } = side;
  const onError = (err: unknown) => log.warn({ err }, "a part of the status is not known");
  const status = createStatusService({
    ...{ health, releases, builds, statistics, presence, downloads, store, now, onError },
    assets: assetRows,
  });
  return { status, presets: createPresetService({ presets: createPresetRepository(db), schematics, now }) };
}
