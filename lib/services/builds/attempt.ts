/** One try to make one asset: claims the row, runs the plan, stores the result, and leaves a row that says the truth. */
import { copyFile, link, mkdir, rm } from "node:fs/promises";
import path from "node:path";
import type { Logger } from "pino";
import type { BuildRepository } from "../../db/build-repository.ts";
import { assetFileName } from "../../domain/asset-path.ts";
import type { AssetRecord, BuildClaim, ClaimedBuild } from "../../domain/build-record.ts";
import { contentTypeOf } from "../../domain/content-type.ts";
import { AppError } from "../../errors/app-error.ts";
import type { RunTool } from "../../exec/run.ts";
import type { BuildPlan, PartCache, Product, RunPlanOptions } from "../../imager/types.ts";
import type { SourceImages } from "../../oci/types.ts";
import type { EventStreams } from "../../queue/event-stream.ts";
import { EventWriter } from "../../queue/event-writer.ts";
import type { Producer } from "../../queue/producer.ts";
import type { BuildSignals } from "../../queue/signals.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { WorkerContainers } from "../imager-containers.ts";
import type { FetchInput } from "../inputs/input-fetcher.ts";
import { requireVerifiedInputs } from "../inputs/verified-inputs.ts";
import { storeBlobs } from "../registry/store-blobs.ts";
import { AttemptControl } from "./attempt-control.ts";
import { endAttempt, type Outcome } from "./attempt-end.ts";
import type { IdleWatch } from "./idle-watch.ts";
import { buildLogKey } from "./log.ts";
import { parsePlan } from "./plan.ts";
import { ProgressTracker } from "./progress.ts";
import { moveOwn } from "./row-writing.ts";

export interface AttemptOptions {
  builds: BuildRepository;
  streams: EventStreams;
  signals: BuildSignals;
  producer: Producer;
  store: ObjectStore;
  parts: PartCache;
  idle: IdleWatch;
  run: RunTool;
  runPlan: (plan: BuildPlan, options: RunPlanOptions) => Promise<Product>;
  /** Inputs of one plan; files of the same image are fetched together. */
  fetcher: (plan: BuildPlan) => FetchInput;
  images: Pick<SourceImages, "requireVerified">;
  /** Signs SecureBoot files; null when it is off. */
  keys?: RunPlanOptions["keys"];
  /** Runs imager images; null where the native engine makes everything. */
  containers?: WorkerContainers | null;
  /** Name of this worker. */
  worker: string;
  scratchDir: string;
  timeoutMs: number;
  now: () => number;
}

/** Runs a queued build to an end or hands it back; does nothing when it is not queued any more. Never rejects for a failed build. */
export async function runAttempt(
  options: AttemptOptions,
  buildId: string,
  context: { log: Logger; shutdown: AbortSignal },
): Promise<void> {
  const build = await options.builds.claim(buildId, options.worker);
  if (build === null) return;
  const claim = { id: build.id, worker: options.worker, attempt: build.attempts };
  const log = context.log.child({ buildId, assetKey: build.assetKey, attempt: claim.attempt });
  const dir = path.join(options.scratchDir, `${claim.id}-${claim.attempt}`);
  const logFile = path.join(dir, "events.ndjson");
  // From here on the row is ours, and whatever goes wrong must end in it; a full disk as well.
  const folder = await settled(freshFolder(dir));
  const writer = await openWriter(options, claim, logFile, log);
  const progress = new ProgressTracker(writer, options.now);
  const control = new AttemptControl({ ...options, claim, progress, log, shutdown: context.shutdown });
  const started = options.now();
  try {
    writer.add("state", { state: "building", attempt: claim.attempt });
    const attempt = { build, claim, dir, control, progress, writer, started, log };
    const outcome = folder.ok ? await settled(makeAsset(options, attempt)) : folder;
    await endAttempt({ ...options, build, claim, control, progress, writer, log }, outcome);
  } finally {
    control.close();
    options.idle.forget(buildId);
    await writer.close();
    await options.store
      .putFile(buildLogKey(buildId), logFile, { contentType: "application/x-ndjson" })
      .catch((error: unknown) => log.warn({ err: error }, "build log not stored"));
    await rm(dir, { recursive: true, force: true }).catch((error: unknown) =>
      log.warn({ err: error }, "scratch folder not removed"),
    );
  }
}

const settled = (work: Promise<void>): Promise<Outcome> =>
  work.then(
    () => ({ ok: true }),
    (error: unknown) => ({ ok: false, error }),
  );

async function freshFolder(dir: string): Promise<void> {
  await rm(dir, { recursive: true, force: true });
  await mkdir(dir, { recursive: true });
}

function openWriter(
  options: AttemptOptions,
  claim: BuildClaim,
  file: string,
  log: Logger,
): Promise<EventWriter> {
  const { streams, signals, now } = options;
  const onError = (error: unknown) => log.warn({ err: error }, "build events not written");
  return EventWriter.open({ buildId: claim.id, streams, signals, file, now, onError });
}

interface Attempt {
  build: ClaimedBuild;
  claim: BuildClaim;
  dir: string;
  control: AttemptControl;
  progress: ProgressTracker;
  writer: EventWriter;
  started: number;
  log: Logger;
}

async function makeAsset(options: AttemptOptions, attempt: Attempt): Promise<void> {
  const { build, claim, dir, control, writer, log } = attempt;
  const { builds } = options;
  const plan = parsePlan(build.plan);
  const product = await makeProduct(options, attempt, plan);
  const uploading = () => builds.move(build.id, "upload", { claim });
  if (!(await moveOwn({ builds, claim, move: "upload", log }, uploading))) throw claimLost();
  writer.add("state", { state: "uploading", attempt: claim.attempt });
  await storeBlobs(options.store, product.blobs ?? [], dir, control.signal);
  const asset = await storeProduct(options, attempt, plan, product);
  await writer.flush();
  const row = { ...attempt.progress.row(), percent: 100, note: null };
  const ready = () => builds.succeed(claim, asset, row);
  if (await moveOwn({ builds, claim, move: "succeed", log }, ready)) return;
  await options.store
    .delete(asset.storageKey)
    .catch((error: unknown) => log.warn({ err: error }, "object left over"));
  throw claimLost();
}

async function makeProduct(
  options: AttemptOptions,
  { claim, dir, control, progress }: Attempt,
  plan: BuildPlan,
): Promise<Product> {
  const { signal } = control;
  await requireVerifiedInputs(options.images, plan, signal);
  const product = await options.runPlan(plan, {
    dir: path.join(dir, "work"),
    run: options.run,
    parts: options.parts,
    fetchInput: options.fetcher(plan),
    keys: options.keys ?? null,
    containers: options.containers?.forBuild(`${claim.id}-${claim.attempt}`) ?? null,
    onProgress: (event) => {
      progress.report(event);
      if (event.type === "phase") control.beat();
    },
    signal,
  });
  signal.throwIfAborted();
  return product;
}

/** Puts the file into the store; gives the row of the asset. */
async function storeProduct(
  options: AttemptOptions,
  { build, claim, dir, control, started }: Attempt,
  plan: BuildPlan,
  product: Product,
): Promise<Omit<AssetRecord, "createdAt">> {
  const fileName = plan.fileName ?? assetFileName(plan.profile);
  // A name of its own per attempt: whoever looks at the object of an older one cannot mistake it for this.
  const storageKey = `assets/${build.assetKey}/${claim.id}-${claim.attempt}/${fileName}`;
  const stored = await options.store.putFile(storageKey, await ownFile(product, dir), {
    contentType: contentTypeOf(fileName),
    signal: control.signal,
  });
  control.finishing();
  return {
    key: build.assetKey,
    kind: plan.profile.kind,
    fileName,
    version: plan.version,
    ...stored,
    storageKey,
    inputs: plan.inputs,
    builtBy: options.worker,
    builtInMs: options.now() - started,
  };
}

const claimLost = () => new AppError("cancelled", "the build was cancelled or given to another worker");

/** The store takes the file away, so what belongs to the parts cache is linked or copied first. */
async function ownFile(product: Product, dir: string): Promise<string> {
  if (product.shape !== "file")
    throw new AppError("internal", "the plan ended with a folder instead of a file");
  if (product.path.startsWith(`${dir}${path.sep}`)) return product.path;
  const own = path.join(dir, "asset");
  await link(product.path, own).catch(() => copyFile(product.path, own));
  return own;
}
