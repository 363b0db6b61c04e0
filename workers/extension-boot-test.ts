/** The job "extension.boot-test": boots an own extension once. */
import type { Handler } from "../lib/queue/worker.ts";
import type { BootTestService } from "../lib/services/own/contracts.ts";

/** The handler; `shutdown` aborts when the worker must end. */
export function bootTestHandler(
  bootTests: Pick<BootTestService, "run">,
  shutdown: AbortSignal,
): Handler<"extension.boot-test"> {
  return ({ testId, requestId }) => bootTests.run(testId, requestId, shutdown);
}
