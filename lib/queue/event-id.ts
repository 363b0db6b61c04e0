/** Ids of build events: "<milliseconds>-<counter>", the form of Redis streams, ordered by both numbers. */

export const streamEventTypes = ["state", "phase", "progress", "done", "log"] as const;

export interface StreamEvent {
  id: string;
  type: (typeof streamEventTypes)[number];
  data: Record<string, unknown>;
}

const PATTERN = /^\d{1,15}-\d{1,15}$/;

/** A text from a client as an id; "0-0", the start, when it is none of ours. */
export function parseEventId(text: string | undefined): string {
  return text !== undefined && PATTERN.test(text) ? text : "0-0";
}

/** Negative when a is older than b. */
export function compareEventIds(a: string, b: string): number {
  const [aMs, aCount] = numbers(a);
  const [bMs, bCount] = numbers(b);
  return aMs - bMs || aCount - bCount;
}

/** The id after `last` for something that happens at `nowMs`; never goes back, even when the clock does. */
export function nextEventId(last: string, nowMs: number): string {
  const [ms, count] = numbers(last);
  return nowMs > ms ? `${nowMs}-0` : `${ms}-${count + 1}`;
}

function numbers(id: string): [number, number] {
  const [ms = "0", count = "0"] = id.split("-");
  return [Number(ms), Number(count)];
}
