/** The job "asset.build": one attempt at one build. */
import type { Handler } from "../lib/queue/worker.ts";
import { type AttemptOptions, runAttempt } from "../lib/services/builds/attempt.ts";

/** The handler; `shutdown` aborts when the worker must end and has to hand its builds back. */
export function assetBuildHandler(options: AttemptOptions, shutdown: AbortSignal): Handler<"asset.build"> {
  return (data, { log }) => runAttempt(options, data.buildId, { log, shutdown });
}
