/** What a build page knows about a running build, and how each event changes it. Pure. */
import type { BuildError, BuildState } from "../../lib/services/contracts.ts";
import { buildError, buildState, type EventData, number, text } from "./event-data.ts";
import { withLog } from "./event-log.ts";
import type { BuildProgress, PlannedStep, StepProgress, StepState, StreamEvent } from "./progress-types.ts";
import type { BuildSnapshot } from "./snapshot.ts";

const waiting = ({ title, phase }: PlannedStep): StepProgress => ({
  ...{ title, phase, state: "waiting", number: null, ms: null, cached: false },
  ...{ percent: 0, note: null, span: null },
});

const isSame = (a: PlannedStep, b: PlannedStep): boolean => a.title === b.title && a.phase === b.phase;

/** Work of a build that ended well and never began was not needed. */
const needed = (steps: StepProgress[], state: BuildState): StepProgress[] =>
  state === "ready" ? steps.filter((step) => step.state !== "waiting") : steps;

/** Where things stood when the page was made. `planned` may be empty when the plan can no longer be had. */
export function initialProgress(build: BuildSnapshot, planned: readonly PlannedStep[]): BuildProgress {
  const { state, percent, attempts, error, timings, note, phase } = build;
  const unplanned = timings.filter((timing) => !planned.some((step) => isSame(step, timing)));
  const steps = [...unplanned, ...planned].map(waiting).map((step): StepProgress => {
    const timing = timings.find((candidate) => isSame(candidate, step));
    if (timing) return { ...step, ms: timing.ms, cached: timing.cached, state: "done", percent: 100 };
    if (step.title !== note || step.phase !== phase) return step;
    if (state === "building" || state === "failed")
      return { ...step, state: state === "failed" ? "failed" : "running" };
    return step;
  });
  return { state, percent, attempt: attempts, error, steps: needed(steps, state), log: [] };
}

const LARGEST_NUMBER = 500;

function withStep(
  steps: StepProgress[],
  wanted: number | null,
  change: (step: StepProgress) => Partial<StepProgress>,
): StepProgress[] {
  return steps.map((step) =>
    wanted !== null && step.number === wanted ? { ...step, ...change(step) } : step,
  );
}

/** A step begins: the planned one gets its number, an unplanned one its place among the numbers. */
function onPhase(progress: BuildProgress, data: EventData, at: number): BuildProgress {
  const wanted = number(data.step);
  if (wanted === null || wanted < 1 || wanted > LARGEST_NUMBER) return progress;
  const named = { title: text(data.title), phase: text(data.phase) };
  const begun: StepProgress = {
    ...waiting(named),
    ...{ state: "running", number: wanted, cached: data.cached === true, span: { from: at, to: at } },
  };
  const steps = [...progress.steps];
  const known = steps.findIndex((step) => isSame(step, named) && (step.number ?? wanted) === wanted);
  if (known >= 0) steps[known] = begun;
  else steps.splice(steps.findLastIndex((step) => (step.number ?? Infinity) < wanted) + 1, 0, begun);
  return { ...progress, steps };
}

function onState(progress: BuildProgress, data: EventData): BuildProgress {
  const state = buildState(data.state) ?? progress.state;
  const attempt = number(data.attempt) ?? progress.attempt;
  const again = attempt > progress.attempt && progress.attempt > 0;
  return {
    ...progress,
    state,
    attempt,
    ...(again ? { steps: progress.steps.map(waiting), percent: 0 } : {}),
  };
}

function onProgress(progress: BuildProgress, data: EventData, at: number): BuildProgress {
  const ms = number(data.ms);
  const change = ({ span }: StepProgress): Partial<StepProgress> =>
    ms === null
      ? { percent: Math.floor(number(data.percent) ?? 0), note: text(data.note) || null }
      : { state: "done", ms, percent: 100, note: null, span: span && { from: span.from, to: at } };
  return {
    ...progress,
    percent: Math.max(progress.percent, number(data.overall) ?? 0),
    steps: withStep(progress.steps, number(data.step), change),
  };
}

/** The error names its step; what ran beside it was only stopped. */
function ended(step: StepProgress, error: BuildError | null): StepState {
  if (step.state !== "running") return step.state;
  if (error === null) return "waiting";
  const place = error.detail?.step;
  return typeof place !== "string" || place === step.title ? "failed" : "waiting";
}

function onDone(progress: BuildProgress, data: EventData): BuildProgress {
  const state = buildState(data.state) ?? progress.state;
  const error = buildError(data.error);
  const failure = state === "failed" ? error : null;
  const steps = progress.steps.map((step) => ({ ...step, state: ended(step, failure) }));
  const percent = state === "ready" ? 100 : progress.percent;
  return { ...progress, state, error, steps: needed(steps, state), percent };
}

/** The progress after an event of the build's stream; unknown events change nothing. */
export function applyEvent(before: BuildProgress, event: StreamEvent): BuildProgress {
  const progress = withLog(before, event);
  const { type, data, at } = event;
  switch (type) {
    case "state":
      return onState(progress, data);
    case "phase":
      return onPhase(progress, data, at);
    case "progress":
      return onProgress(progress, data, at);
    case "done":
      return onDone(progress, data);
    default:
      return progress;
  }
}
