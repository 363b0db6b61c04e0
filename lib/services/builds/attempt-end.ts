/** The end of an attempt: ready, tried again, failed, or somebody else's business. docs/builds.md has the table. */
import type { Logger } from "pino";
import type { BuildRepository } from "../../db/build-repository.ts";
import type { BuildClaim, BuildError, BuildRecord } from "../../domain/build-record.ts";
import { hasAnotherTry, pauseAfter } from "../../domain/build-retry.ts";
import type { EventWriter } from "../../queue/event-writer.ts";
import { jobOf } from "../../queue/jobs.ts";
import type { Producer } from "../../queue/producer.ts";
import type { BuildSignals } from "../../queue/signals.ts";
import type { AttemptControl } from "./attempt-control.ts";
import { toBuildError } from "./errors.ts";
import { doneData } from "./events.ts";
import type { ProgressTracker } from "./progress.ts";
import { moveOwn } from "./row-writing.ts";

export interface AttemptEndOptions {
  builds: BuildRepository;
  producer: Producer;
  signals: BuildSignals;
  build: BuildRecord;
  claim: BuildClaim;
  control: AttemptControl;
  progress: ProgressTracker;
  writer: EventWriter;
  log: Logger;
}

export type Outcome = { ok: true } | { ok: false; error: unknown };

/** Moves the row, tells everybody, and queues the next attempt where there is one. */
export async function endAttempt(options: AttemptEndOptions, outcome: Outcome): Promise<void> {
  if (outcome.ok) {
    options.log.info({ timings: options.progress.row().timings }, "build ready");
    return finish(options);
  }
  if (options.control.reason === "shutdown") return handBack(options);
  // The thrown error may be any consequence of the abort; the reason of the abort is what people must hear.
  const thrown = options.control.signal.aborted ? options.control.signal.reason : outcome.error;
  const error = toBuildError(thrown, options.progress.place());
  if (options.control.reason === "claim-lost") return leave(options);
  const again = error.retryable === true && hasAnotherTry(options.build.failures + 1);
  if (again && (await move(options, "retry", error))) return queueAgain(options, error);
  if (!again && (await move(options, "fail", error))) {
    options.log.error({ err: outcome.error, error }, "build failed");
    return finish(options);
  }
  return leave(options);
}

/** Another state than ours: cancelled (readers want to hear it) or taken over by another worker (which tells them). */
async function leave(options: AttemptEndOptions): Promise<void> {
  const row = await options.builds.find(options.claim.id);
  options.log.info({ state: row?.state }, "build given up");
  if (row?.state === "cancelled") return finish(options);
}

async function finish({ builds, claim, writer, signals }: AttemptEndOptions): Promise<void> {
  const row = await builds.find(claim.id);
  if (row !== null) writer.add("done", doneData(row));
  await signals.publish(claim.id, "changed");
}

async function queueAgain(options: AttemptEndOptions, error: BuildError): Promise<void> {
  const delayMs = pauseAfter(options.build.failures + 1);
  options.log.warn({ error, delayMs }, "build will be tried again");
  options.writer.add("log", { line: `failed: ${error.message}` });
  await queued(options, `next try in ${Math.round(delayMs / 1_000)} s: ${error.message}`, delayMs);
}

async function handBack(options: AttemptEndOptions): Promise<void> {
  const { builds, claim } = options;
  const note = "handed back by a worker that was stopped";
  const again = () => builds.move(claim.id, "retry", { claim }, { note });
  if (!(await moveOwn({ builds, claim, move: "retry", log: options.log }, again))) return leave(options);
  options.log.info("build handed back");
  await queued(options, note, 0);
}

async function queued(
  { build, claim, producer, writer, log }: AttemptEndOptions,
  note: string,
  delayMs: number,
) {
  writer.add("state", { state: "queued", attempt: claim.attempt, note });
  await producer
    .enqueue("asset.build", jobOf({ ...build, attempts: claim.attempt }), { delayMs })
    .catch((error: unknown) => log.warn({ err: error }, "queue did not take the build"));
}

function move(
  { builds, claim, log }: AttemptEndOptions,
  name: "retry" | "fail",
  error: BuildError,
): Promise<boolean> {
  const note = name === "retry" ? error.message : null;
  const write = () => builds.move(claim.id, name, { claim }, { error, note, failed: true });
  return moveOwn({ builds, claim, move: name, log }, write);
}
