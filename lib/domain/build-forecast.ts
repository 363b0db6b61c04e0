/** When a waiting or running build may be done, from how long builds like it took before. */

/** What the queue looks like to one build. Times in milliseconds; null where nothing like it was ever built. */
export interface QueuePicture {
  /** Usual time of each build that waits before it, the next one first. */
  ahead: (number | null)[];
  /** What the running builds still need, by their usual times. */
  running: (number | null)[];
  /** Builds that can run at once; at least one. */
  slots: number;
  /** Usual time of the build itself. */
  own: number | null;
  /** How long it runs already; null while it waits. */
  elapsed: number | null;
}

export interface BuildForecast {
  /** 1 is the next one to be taken; null once a worker has it. */
  position: number | null;
  /** Milliseconds until it ends; null when builds of this kind, or those before it, are not known yet. */
  endsInMs: number | null;
}

/** The forecast for one build: the builds before it are handed to whichever slot is free first. */
export function forecastBuild({ ahead, running, slots, own, elapsed }: QueuePicture): BuildForecast {
  if (elapsed !== null) return { position: null, endsInMs: own === null ? null : Math.max(0, own - elapsed) };
  const position = ahead.length + 1;
  const busy = running.slice(0, slots);
  if (own === null || [...ahead, ...busy].includes(null)) return { position, endsInMs: null };
  const free = [...busy, ...Array<number>(slots - busy.length).fill(0)].map((ms) => ms ?? 0);
  const take = (ms: number) => {
    const first = free.indexOf(Math.min(...free));
    const end = (free[first] ?? 0) + ms;
    free[first] = end;
    return end;
  };
  for (const ms of ahead) take(ms ?? 0);
  return { position, endsInMs: take(own) };
}
