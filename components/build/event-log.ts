/** The log of a build, written from its events. Pure. */
import { buildError, number, text } from "./event-data.ts";
import type { BuildProgress, StepProgress, StreamEvent } from "./progress-types.ts";

/** Lines kept; older ones are dropped. */
const LOG_LINES = 5_000;

/** The time of day in UTC, as log lines begin. */
const clock = (at: number): string => (Number.isFinite(at) ? new Date(at).toISOString().slice(11, 23) : "");

/** What an event says in the log; null when it only moves a number. English, as the steps' own lines are. */
function logLine({ type, data }: StreamEvent, steps: readonly StepProgress[]): string | null {
  const step = steps.find((one) => one.number === number(data.step));
  const ms = number(data.ms);
  if (type === "log") return text(data.line);
  if (type === "state") return `${text(data.state)}, attempt ${number(data.attempt) ?? 0}`;
  if (type === "phase") return `${text(data.phase)}: ${text(data.title)}${data.cached ? " (reused)" : ""}`;
  if (type === "progress" && ms !== null && step && !step.cached)
    return `${step.phase}: ${step.title}, done in ${ms} ms`;
  if (type !== "done") return null;
  const message = buildError(data.error)?.message;
  return message ? `${text(data.state)}: ${message}` : text(data.state);
}

/** The progress with what the event says in its log. */
export function withLog(progress: BuildProgress, event: StreamEvent): BuildProgress {
  const line = logLine(event, progress.steps);
  if (line === null) return progress;
  return { ...progress, log: [...progress.log.slice(1 - LOG_LINES), `${clock(event.at)} ${line}`] };
}
