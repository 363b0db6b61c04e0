/** Assets: resolve what a URL asks for, find it ready, or have it built and wait. */
import type { BuildRecord } from "../../domain/build-record.ts";
import { AppError } from "../../errors/app-error.ts";
import { redactPlan } from "../../imager/plan.ts";
import type { Waiters } from "../../queue/waiters.ts";
import { buildFailure } from "../builds/errors.ts";
import type { BuildStarting } from "../builds/starting.ts";
import { toBuildView } from "../builds/view.ts";
import type { BuildWaiting } from "../builds/waiting.ts";
import type { AssetRequest, AssetService, BuildView, ReadyAsset, ResolvedAsset } from "../contracts.ts";
import type { ReadyAssets } from "./ready-assets.ts";

/** How often a request starts over when the build it joined was given up by others. */
const MOST_TRIES = 3;

export interface AssetServiceOptions {
  resolve: (request: AssetRequest) => Promise<ResolvedAsset>;
  ready: ReadyAssets;
  starting: BuildStarting;
  waiting: BuildWaiting;
  waiters: Waiters;
  /** Called before anything is made; what it throws is told instead. */
  mayMake: (asset: ResolvedAsset) => Promise<void>;
  /** Called for each download that begins at the start of a file. */
  onDownload: () => void;
}

/** The asset use cases. */
export function createAssetService(options: AssetServiceOptions): AssetService {
  const { resolve, ready } = options;
  return {
    resolve,
    describe: ({ plan }) => redactPlan(plan),
    findReady: (assetKey) => ready.find(assetKey),
    ensure: (asset, { requestId, signal }) => ensure(options, asset, requestId, signal),
    start: (asset, how) => start(options, asset, how),
    inline: inlineBytes,
    open(asset, range, signal) {
      if ((range?.start ?? 0) === 0) options.onDownload();
      return ready.open(asset, range, signal);
    },
    usualSizes: () => ready.usualSizes(),
    discard: (asset) => ready.forget(asset),
  };
}

async function start(
  options: AssetServiceOptions,
  asset: ResolvedAsset,
  asked: { requestId: string; again?: boolean },
): Promise<BuildView> {
  const { starting, ready } = options;
  const how = { ...asked, detached: true };
  const made = await ready.find(asset.assetKey);
  if (made !== null) return toBuildView(await starting.readyBuild(asset, how), made, 0);
  await options.mayMake(asset);
  const build = await starting.startOrJoin(asset, how);
  const found = build.state === "ready" ? await ready.find(asset.assetKey) : null;
  return toBuildView(build, found, 0);
}

async function ensure(
  options: AssetServiceOptions,
  asset: ResolvedAsset,
  requestId: string,
  signal: AbortSignal,
): Promise<ReadyAsset> {
  for (let attempt = 1; ; attempt += 1) {
    const made = await options.ready.find(asset.assetKey);
    if (made !== null) return made;
    await options.mayMake(asset);
    const build = await options.starting.startOrJoin(asset, { requestId, detached: false });
    const end = await wait(options, build, signal);
    if (end.state === "ready") {
      const fresh = await options.ready.find(asset.assetKey);
      if (fresh !== null) return fresh;
    } else if (!isNobodysFailure(end)) throw buildFailure(end);
    if (attempt === MOST_TRIES) throw end.state === "ready" ? vanished(asset) : buildFailure(end);
  }
}

async function wait(
  options: AssetServiceOptions,
  build: BuildRecord,
  signal: AbortSignal,
): Promise<BuildRecord> {
  const leave = options.waiters.join(build.id);
  try {
    return await options.waiting.untilFinished(build.id, signal);
  } finally {
    leave();
  }
}

/** The others left, or another build made the file, and this one ended just when this request came. */
const isNobodysFailure = (build: BuildRecord) =>
  build.state === "cancelled" && ["abandoned", "already_made"].includes(String(build.error?.detail?.reason));

const vanished = (asset: ResolvedAsset) =>
  new AppError("internal", `${asset.path} was built, but the object store does not have it`, {
    hint: "Check that web and worker use the same object store.",
  });

/** A plan that is one step over no inputs and carries its text needs no worker. */
function inlineBytes(asset: ResolvedAsset): Uint8Array | null {
  const [step, ...others] = asset.plan.steps;
  if (step?.op !== "command-line" || others.length > 0) return null;
  const text = step.params.text;
  return typeof text === "string" ? new TextEncoder().encode(text) : null;
}
