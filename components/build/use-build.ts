"use client";
/** Follows a build by server-sent events and keeps the page's picture of it. */
import { useEffect, useReducer, useState } from "react";
import { knowingQuery } from "./build-address.ts";
import { applyEvent, initialProgress } from "./progress.ts";
import type { BuildProgress, PlannedStep, StreamEvent } from "./progress-types.ts";
import { type BuildSnapshot, fetchSnapshot } from "./snapshot.ts";

/** How often a waiting build asks for its place in the queue. */
const QUEUE_EVERY_MS = 3_000;

const TYPES = ["state", "phase", "progress", "log", "done"] as const;

const reduce = (progress: BuildProgress, batch: StreamEvent[]): BuildProgress =>
  batch.reduce(applyEvent, progress);

/** The progress, live, and the latest snapshot, which is read again when the build has ended. */
export function useBuild(start: BuildSnapshot, planned: PlannedStep[]) {
  const [progress, take] = useReducer(reduce, null, () => initialProgress(start, planned));
  const [build, setBuild] = useState(start);
  const [connected, setConnected] = useState(true);
  useEffect(() => {
    const source = new EventSource(`/api/v1/builds/${start.id}/events${knowingQuery(start)}`);
    let batch: StreamEvent[] = [];
    let frame = 0;
    const flush = () => {
      frame = 0;
      take(batch);
      batch = [];
    };
    for (const type of TYPES) {
      source.addEventListener(type, (event) => {
        // The ID of an event begins with the time it was written at.
        batch.push({ type, data: JSON.parse(event.data), at: Number.parseInt(event.lastEventId, 10) });
        frame ||= requestAnimationFrame(flush);
        if (type !== "done") return;
        source.close();
        fetchSnapshot(start).then(setBuild, () => location.reload());
      });
    }
    source.onopen = () => setConnected(true);
    source.onerror = () => setConnected(false);
    return () => {
      source.close();
      cancelAnimationFrame(frame);
    };
  }, [start]);
  const waits = progress.state === "queued";
  useEffect(() => {
    if (!waits) return;
    const ask = () => fetchSnapshot(start).then(setBuild, () => undefined);
    const timer = setInterval(ask, QUEUE_EVERY_MS);
    return () => {
      clearInterval(timer);
      // Once it is taken, the usual time counts from its start.
      void ask();
    };
  }, [waits, start]);
  return { progress, build, connected };
}
