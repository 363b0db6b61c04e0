/** Brings rows and queue together again after anything was lost: jobs, workers, waiters, scratch folders. */
import { readdir, rm } from "node:fs/promises";
import path from "node:path";
import type { Logger } from "pino";
import type { BuildRepository } from "../../db/build-repository.ts";
import type { BuildRecord } from "../../domain/build-record.ts";
import { hasAnotherTry, pauseAfter } from "../../domain/build-retry.ts";
import type { EventStreams } from "../../queue/event-stream.ts";
import { jobOf } from "../../queue/jobs.ts";
import type { Producer } from "../../queue/producer.ts";
import type { BuildSignals } from "../../queue/signals.ts";
import { abandoned, workerLost } from "./errors.ts";
import { doneData } from "./events.ts";
import type { IdleWatch } from "./idle-watch.ts";
import type { WorkerIdentity } from "./worker-identity.ts";

/** A build whose worker was silent for so long has none: five heartbeats in a row did not come. */
export const STALE_MS = 15_000;
const MOST_QUEUED_LOOKED_AT = 1_000;

export interface ReconcilingOptions {
  builds: BuildRepository;
  producer: Producer;
  streams: EventStreams;
  signals: BuildSignals;
  idle: IdleWatch;
  identity: WorkerIdentity;
  staleMs: number;
  log: Logger;
}

/** One round. Safe in any number of processes at once: every change is a guarded move. */
export async function reconcile(options: ReconcilingOptions): Promise<void> {
  const active = await options.builds.active();
  for (const build of await lostBuilds(options, active)) await recover(options, build);
  const queued = await options.builds.queued(MOST_QUEUED_LOOKED_AT);
  options.idle.keepOnly(new Set([...active, ...queued].map((build) => build.id)));
  for (const build of queued) {
    if (!build.detached && (await options.idle.isAbandoned(build.id))) await giveUp(options, build);
    // Adding a job that is there already changes nothing, so nobody has to know whether it is.
    else await enqueue(options, build, 0);
  }
}

interface LostBuild extends BuildRecord {
  worker: string;
  /** Known to be dead because it ran on this machine, whatever its last heartbeat says. */
  seenDead: boolean;
}

async function lostBuilds(
  { builds, identity, staleMs }: ReconcilingOptions,
  active: BuildRecord[],
): Promise<LostBuild[]> {
  const stale = new Set(await builds.stale(staleMs));
  const lost: LostBuild[] = [];
  for (const build of active) {
    if (build.worker === null) continue;
    const seenDead = identity.isDead(build.worker);
    if (seenDead || stale.has(build.id)) lost.push({ ...build, worker: build.worker, seenDead });
  }
  return lost;
}

async function recover(options: ReconcilingOptions, build: LostBuild): Promise<void> {
  const { builds, log, signals, staleMs } = options;
  const claim = { id: build.id, worker: build.worker, attempt: build.attempts };
  const guard = build.seenDead ? { claim } : { claim, staleMs };
  const failures = build.failures + 1;
  if (!hasAnotherTry(failures)) {
    const error = workerLost(failures);
    if (!(await builds.move(build.id, "fail", guard, { error, failed: true }))) return;
    log.error({ buildId: build.id, worker: build.worker }, "build failed because its workers died");
    return tell(options, { ...build, state: "failed", error });
  }
  const note = "its worker died; waiting for another one";
  if (!(await builds.move(build.id, "retry", guard, { note, failed: true }))) return;
  log.warn({ buildId: build.id, worker: build.worker }, "build taken from a dead worker");
  const data = { state: "queued", attempt: build.attempts, note };
  await options.streams
    .append(build.id, { type: "state", data })
    .catch((error: unknown) => log.warn({ err: error }, "event not written"));
  await signals.publish(build.id, "changed");
  await enqueue(options, build, pauseAfter(1));
}

async function giveUp(options: ReconcilingOptions, build: BuildRecord): Promise<void> {
  if (!(await options.builds.move(build.id, "cancel", { attached: true }, { error: abandoned }))) return;
  options.idle.forget(build.id);
  options.log.info({ buildId: build.id }, "queued build given up, nobody waits");
  await tell(options, { ...build, state: "cancelled", error: abandoned });
}

async function tell({ streams, signals, log }: ReconcilingOptions, build: BuildRecord): Promise<void> {
  await streams
    .append(build.id, { type: "done", data: doneData(build) })
    .catch((error: unknown) => log.warn({ err: error }, "event not written"));
  await signals.publish(build.id, "changed");
}

async function enqueue(
  { producer, log }: ReconcilingOptions,
  build: BuildRecord,
  delayMs: number,
): Promise<void> {
  await producer
    .enqueue("asset.build", jobOf(build), { delayMs })
    .catch((error: unknown) => log.warn({ err: error, buildId: build.id }, "queue did not take the build"));
}

/** False when `<build>-<attempt>` is one of ours and no worker has it any more. */
export async function isAttemptAlive(builds: BuildRepository, attempt: string): Promise<boolean> {
  const [, id = "", number = ""] = /^(.+)-(\d+)$/.exec(attempt) ?? [];
  const build = await builds.find(id);
  // Of another factory that uses the same daemon.
  if (build === null) return true;
  return (build.state === "building" || build.state === "uploading") && build.attempts === Number(number);
}

/** Removes scratch folders of attempts that no living worker has; gives their number. */
export async function cleanScratch(builds: BuildRepository, scratchDir: string): Promise<number> {
  // The folder first: a build that is claimed after this look has no folder in the list.
  const found = await readdir(scratchDir).catch(() => []);
  const alive = new Set((await builds.active()).map((build) => `${build.id}-${build.attempts}`));
  const names = found.filter((name) => !alive.has(name));
  await Promise.all(names.map((name) => rm(path.join(scratchDir, name), { recursive: true, force: true })));
  return names.length;
}
