/** The events of a build for one reader: what was, from the stream or the stored log, then what comes, until the end. */
import type { BuildRepository } from "../../db/build-repository.ts";
import type { BuildRecord } from "../../domain/build-record.ts";
import { isRunning } from "../../domain/build-state.ts";
import { nextEventId, parseEventId, type StreamEvent } from "../../queue/event-id.ts";
import type { EventStreams } from "../../queue/event-stream.ts";
import type { BuildSignals } from "../../queue/signals.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { BuildEvent } from "../contracts.ts";
import { buildMissing } from "./errors.ts";
import { readBuildLog } from "./log.ts";

const PAGE = 500;
const POLL_MS = 2_000;

export interface BuildEventsOptions {
  builds: BuildRepository;
  streams: EventStreams;
  signals: BuildSignals;
  store: ObjectStore;
  onError: (error: unknown) => void;
}

/** Ends after the "done" event or when the signal aborts. not_found for an unknown build. */
export async function* followBuild(
  options: BuildEventsOptions,
  buildId: string,
  { lastEventId, signal }: { lastEventId?: string; signal: AbortSignal },
): AsyncGenerator<BuildEvent> {
  const started = parseEventId(lastEventId);
  let last = started;
  const bell = new Bell();
  const off = options.signals.listen(buildId, () => bell.ring());
  try {
    while (!signal.aborted) {
      // Asked before the stream is read: when the build was over by then, the stream has all there will be.
      const build = await options.builds.find(buildId);
      if (build === null && last === started) throw buildMissing(buildId);
      const over = build === null || !isRunning(build.state);
      for await (const event of over ? ending(options, buildId, last) : stream(options, buildId, last)) {
        last = event.id;
        yield event;
        if (event.type === "done" || signal.aborted) return;
      }
      if (over) {
        if (build !== null) yield closing(build, last);
        return;
      }
      await bell.wait(POLL_MS, signal);
    }
  } finally {
    off();
  }
}

async function* stream(
  options: BuildEventsOptions,
  buildId: string,
  after: string,
): AsyncGenerator<StreamEvent> {
  let last = after;
  for (;;) {
    const page = await options.streams.readAfter(buildId, last, PAGE).catch((error: unknown) => {
      options.onError(error);
      return [];
    });
    yield* page;
    const newest = page.at(-1);
    if (newest === undefined || page.length < PAGE) return;
    last = newest.id;
  }
}

/** A finished build: the stored log, which is whole even when Redis lost its part, and what the stream has after it. */
async function* ending(
  options: BuildEventsOptions,
  buildId: string,
  after: string,
): AsyncGenerator<StreamEvent> {
  let last = after;
  for await (const event of readBuildLog(options.store, buildId, after)) {
    last = event.id;
    yield event;
  }
  // The log of an earlier attempt ends early, and that of the last one is stored a moment after the build's end.
  yield* stream(options, buildId, last);
}

/** The last event of a build whose stream and log are gone or end early, made from its row. */
function closing(build: BuildRecord, last: string): BuildEvent {
  const id = nextEventId(last, build.finishedAt?.getTime() ?? 0);
  return { id, type: "done", data: doneData(build) };
}

/** What a "done" event carries. */
export function doneData(build: Pick<BuildRecord, "state" | "error" | "assetKey">): Record<string, unknown> {
  return { state: build.state, error: build.error, assetKey: build.assetKey };
}

/** Remembers a ring that came while nobody waited. */
class Bell {
  #rung = false;
  #wake: () => void = () => {};

  ring(): void {
    this.#rung = true;
    this.#wake();
  }

  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#rung && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => this.#wake(), ms);
        this.#wake = () => {
          clearTimeout(timer);
          signal.removeEventListener("abort", this.#wake);
          resolve();
        };
        signal.addEventListener("abort", this.#wake, { once: true });
      });
    }
    this.#rung = false;
  }
}
