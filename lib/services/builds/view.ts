/** From the row of a build to what pages and clients see. */
import { PHASES, type Phase } from "../../domain/build-phases.ts";
import type { AssetRecord, BuildRecord } from "../../domain/build-record.ts";
import type { BuildView, ReadyAsset } from "../contracts.ts";

/** The view of one build; `asset` only for one that is ready, `waiters` as counted now. */
export function toBuildView(build: BuildRecord, asset: ReadyAsset | null, waiters: number): BuildView {
  return {
    id: build.id,
    assetKey: build.assetKey,
    schematicId: build.schematicId,
    schematicHidden: false,
    version: build.version,
    path: build.path,
    lockId: build.lockId,
    state: build.state,
    phase: findPhase(build.phase),
    step: build.step,
    of: build.steps,
    percent: build.percent,
    note: build.note,
    error: build.error,
    attempts: build.attempts,
    waiters,
    forecast: null,
    queuedAt: build.queuedAt,
    startedAt: build.startedAt,
    finishedAt: build.finishedAt,
    asset: build.state === "ready" ? asset : null,
    timings: build.timings.flatMap(({ phase, ...timing }) => {
      const known = findPhase(phase);
      return known === null ? [] : [{ ...timing, phase: known }];
    }),
  };
}

/** What a request needs of an asset row. */
export function toReadyAsset(asset: AssetRecord): ReadyAsset {
  return {
    assetKey: asset.key,
    sizeBytes: asset.sizeBytes,
    sha256: asset.sha256,
    sha512: asset.sha512,
    storageKey: asset.storageKey,
    builtAt: asset.createdAt,
    builtInMs: asset.builtInMs,
  };
}

function findPhase(text: string | null): Phase | null {
  return PHASES.find((phase) => phase === text) ?? null;
}
