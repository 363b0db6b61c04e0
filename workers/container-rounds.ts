/** Removes containers of dead builds now and then, in rounds of its own: a container daemon that hangs holds up nothing else. */
import type { Logger } from "pino";
import type { WorkerContainers } from "../lib/services/imager-containers.ts";

/** Where no container can be run, it is tried again only every so many rounds. */
const PAUSE_ROUNDS = 6;

export interface ContainerRoundsOptions {
  containers: Pick<WorkerContainers, "removeLeftovers">;
  /** Whether the build that a container is of has a living worker. */
  isAlive: (owner: string) => Promise<boolean>;
  everyMs: number;
  log: Pick<Logger, "warn" | "info">;
}

/** Starts at once and waits for nothing; the function ends it. */
export function startContainerRounds(options: ContainerRoundsOptions): () => void {
  const { containers, isAlive, everyMs, log } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  let trouble: string | null = null;
  let timer: NodeJS.Timeout | undefined;

  async function round(): Promise<void> {
    try {
      const removed = await containers.removeLeftovers(isAlive, signal);
      if (removed > 0) log.warn({ removed }, "containers of dead builds removed");
      if (trouble !== null) log.info("imager images can be run here again");
      trouble = null;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      // Said once, not in every round.
      if (!signal.aborted && message !== trouble)
        log.warn({ err: error }, "imager images cannot be run here");
      trouble = message;
    }
    if (signal.aborted) return;
    timer = setTimeout(() => void round(), everyMs * (trouble === null ? 1 : PAUSE_ROUNDS));
  }

  void round();
  return () => {
    stopping.abort(new Error("the worker stops"));
    clearTimeout(timer);
  };
}
