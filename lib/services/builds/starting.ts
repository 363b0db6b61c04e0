/** Starts a build or joins the running one. The unique index decides who starts, on however many machines they ask. */
import type { Logger } from "pino";
import { newBuildId } from "../../db/build-id.ts";
import type { BuildRepository } from "../../db/build-repository.ts";
import type { BuildRecord } from "../../domain/build-record.ts";
import { wouldFailAgain } from "../../domain/build-retry.ts";
import { AppError } from "../../errors/app-error.ts";
import type { EventStreams } from "../../queue/event-stream.ts";
import { jobOf } from "../../queue/jobs.ts";
import type { Producer } from "../../queue/producer.ts";
import type { ReadyAssets } from "../assets/ready-assets.ts";
import type { ResolvedAsset } from "../contracts.ts";
import { settleWithin } from "../settle-within.ts";
import { alreadyMade } from "./errors.ts";

/** More waiting builds than this are refused. */
const MOST_QUEUED = 1_000;

export interface StartOptions {
  requestId: string;
  detached: boolean;
  /** Somebody asks for another try on purpose: a failure of just now is not told again. */
  again?: boolean;
}

export interface BuildStarting {
  /** A running build, or one that failed just now and would fail again, or one that became ready meanwhile. */
  startOrJoin(asset: ResolvedAsset, options: StartOptions): Promise<BuildRecord>;
  /** The build that made a file which is there. */
  readyBuild(asset: ResolvedAsset, options: StartOptions): Promise<BuildRecord>;
}

export interface BuildStartingOptions {
  builds: BuildRepository;
  producer: Producer;
  streams: EventStreams;
  log: Logger;
  now: () => number;
  ready: ReadyAssets;
}

/** The way into the queue. */
export function createBuildStarting(options: BuildStartingOptions): BuildStarting {
  return {
    startOrJoin: (asset, start) => startOrJoin(options, asset, start),
    readyBuild: (asset, start) => readyBuild(options, asset, start),
  };
}

async function startOrJoin(
  options: BuildStartingOptions,
  asset: ResolvedAsset,
  start: StartOptions,
): Promise<BuildRecord> {
  const { builds, ready, log, now } = options;
  const { requestId, detached, again = false } = start;
  const running = await builds.findRunning(asset.assetKey);
  if (running !== null) return join(builds, running, detached);
  const last = await builds.findLastFinished(asset.assetKey);
  if (last !== null && !again && wouldFailAgain(last, now())) return last;
  if ((await builds.countQueued()) >= MOST_QUEUED) throw queueFull();
  const created = await builds.insert({ ...newRow(asset, start, now()), plan: asset.plan });
  if (created === null) return joinWinner(builds, asset, detached);
  if ((await ready.find(asset.assetKey)) !== null) {
    // The build before this one ended between the caller's look and the insert: there is nothing left to do.
    await builds.move(created.id, "cancel", {}, { error: alreadyMade });
    return readyBuild(options, asset, start);
  }
  log.info(
    { buildId: created.id, assetKey: created.assetKey, path: created.path, requestId },
    "build queued",
  );
  await announce(options, created);
  return created;
}

/** Rows may be gone, or of a time before this table: then one is made, so that the answer can name a build. */
async function readyBuild(
  { builds, now }: BuildStartingOptions,
  asset: ResolvedAsset,
  start: StartOptions,
): Promise<BuildRecord> {
  return (await builds.findLastReady(asset.assetKey)) ?? builds.insertReady(newRow(asset, start, now()));
}

function newRow(asset: ResolvedAsset, { requestId, detached }: StartOptions, nowMs: number) {
  const { assetKey, schematicId, version, path, plan, lockId = null } = asset;
  const id = newBuildId(nowMs);
  const steps = plan.steps.length;
  return { id, assetKey, schematicId, version, path, lockId, steps, detached, requestId };
}

/** Somebody else was faster by a moment; when that build is over already, its row is the newest finished one. */
async function joinWinner(
  builds: BuildRepository,
  asset: ResolvedAsset,
  detached: boolean,
): Promise<BuildRecord> {
  const winner =
    (await builds.findRunning(asset.assetKey)) ?? (await builds.findLastFinished(asset.assetKey));
  if (winner === null)
    throw new AppError("internal", `the build of ${asset.path} vanished while it was joined`, {
      hint: "Ask for the file again.",
    });
  return join(builds, winner, detached);
}

async function join(builds: BuildRepository, build: BuildRecord, detached: boolean): Promise<BuildRecord> {
  if (detached && !build.detached) await builds.setDetached(build.id);
  return build;
}

/** Redis may be away: then the reconciler of a worker finds the row. */
async function announce(
  { producer, streams, log }: Pick<BuildStartingOptions, "producer" | "streams" | "log">,
  build: BuildRecord,
): Promise<void> {
  const work = [
    streams.append(build.id, { type: "state", data: { state: "queued", attempt: 0 } }),
    producer.enqueue("asset.build", jobOf(build)),
  ];
  await settleWithin(work, (err) => log.warn({ err, buildId: build.id }, "queue did not take the build"));
}

const queueFull = () =>
  new AppError("queue_full", `${MOST_QUEUED} builds wait already`, {
    hint: "Ask again later, or start more workers.",
    retryable: true,
    retryAfterSeconds: 60,
  });
