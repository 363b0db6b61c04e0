/** What a build page knows about a running build, and how each event changes it. Pure. */
import type { BuildError, BuildState } from "../../lib/services/contracts.ts";
import type { BuildSnapshot } from "./snapshot.ts";

export type StepState = "waiting" | "running" | "done" | "failed";

export interface StepProgress {
  title: string;
  phase: string;
  state: StepState;
  /** Set when done. Milliseconds. */
  ms: number | null;
  cached: boolean;
  /** Of the running step. */
  percent: number;
  note: string | null;
}

export interface BuildProgress {
  state: BuildState;
  /** Of the whole build. */
  percent: number;
  attempt: number;
  error: BuildError | null;
  steps: StepProgress[];
  log: string[];
}

export interface PlannedStep {
  title: string;
  phase: string;
}

/** Lines kept; older ones are dropped. */
const LOG_LINES = 5_000;

const waiting = ({ title, phase }: PlannedStep): StepProgress => ({
  ...{ title, phase, state: "waiting", ms: null, cached: false, percent: 0, note: null },
});

/** Where things stood when the page was made. `planned` may be empty when the plan can no longer be had. */
export function initialProgress(build: BuildSnapshot, planned: readonly PlannedStep[]): BuildProgress {
  const base = planned.length >= build.timings.length ? planned : build.timings;
  const steps = base.map(waiting).map((step, index): StepProgress => {
    const timing = build.timings[index];
    if (timing) return { ...step, ...timing, state: "done", percent: 100 };
    if (index !== build.timings.length || build.state === "queued") return step;
    if (build.state === "failed") return { ...step, state: "failed" };
    return build.state === "building" ? { ...step, state: "running", note: build.note } : step;
  });
  const { state, percent, attempts, error } = build;
  return { state, percent, attempt: attempts, error, steps, log: [] };
}

type Data = Record<string, unknown>;
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const number = (value: unknown): number | null => (typeof value === "number" ? value : null);

function withStep(
  steps: StepProgress[],
  number_: number | null,
  change: Partial<StepProgress>,
): StepProgress[] {
  const index = (number_ ?? 0) - 1;
  if (index < 0 || index > 200) return steps;
  const grown = [...steps];
  while (grown.length <= index) grown.push(waiting({ title: "", phase: "" }));
  return grown.map((step, at) => (at === index ? { ...step, ...change } : step));
}

function onState(progress: BuildProgress, data: Data): BuildProgress {
  const state = text(data.state) as BuildState;
  const attempt = number(data.attempt) ?? progress.attempt;
  const again = attempt > progress.attempt && progress.attempt > 0;
  return {
    ...progress,
    state,
    attempt,
    ...(again ? { steps: progress.steps.map(waiting), percent: 0 } : {}),
  };
}

function onProgress(progress: BuildProgress, data: Data): BuildProgress {
  const ms = number(data.ms);
  const change: Partial<StepProgress> =
    ms === null
      ? { percent: number(data.percent) ?? 0, note: text(data.note) || null }
      : { state: "done", ms, percent: 100, note: null };
  return {
    ...progress,
    percent: Math.max(progress.percent, number(data.overall) ?? 0),
    steps: withStep(progress.steps, number(data.step), change),
  };
}

function onDone(progress: BuildProgress, data: Data): BuildProgress {
  const state = text(data.state) as BuildState;
  const error = (data.error ?? null) as BuildError | null;
  const steps = progress.steps.map((step) =>
    step.state === "running"
      ? { ...step, state: state === "failed" ? ("failed" as const) : ("waiting" as const) }
      : step,
  );
  return { ...progress, state, error, steps, percent: state === "ready" ? 100 : progress.percent };
}

/** The progress after an event of the build's stream; unknown events change nothing. */
export function applyEvent(progress: BuildProgress, type: string, data: Data): BuildProgress {
  switch (type) {
    case "state":
      return onState(progress, data);
    case "phase": {
      const change = { phase: text(data.phase), title: text(data.title), cached: data.cached === true };
      const running = { ...change, state: "running", percent: 0, note: null } as const;
      return { ...progress, steps: withStep(progress.steps, number(data.step), running) };
    }
    case "progress":
      return onProgress(progress, data);
    case "log":
      return { ...progress, log: [...progress.log.slice(1 - LOG_LINES), text(data.line)] };
    case "done":
      return onDone(progress, data);
    default:
      return progress;
  }
}

export interface PhaseGroup {
  phase: string;
  steps: StepProgress[];
  state: StepState;
  /** Sum of the finished steps. */
  ms: number;
}

function groupState(steps: StepProgress[]): StepState {
  if (steps.some((step) => step.state === "failed")) return "failed";
  if (steps.every((step) => step.state === "done")) return "done";
  return steps.every((step) => step.state === "waiting") ? "waiting" : "running";
}

/** Steps that follow each other in one phase, as one entry of the line. */
export function phaseGroups(steps: readonly StepProgress[]): PhaseGroup[] {
  const groups: StepProgress[][] = [];
  for (const step of steps) {
    const last = groups.at(-1);
    if (last?.[0]?.phase === step.phase) last.push(step);
    else groups.push([step]);
  }
  return groups.map((members) => ({
    phase: members[0]?.phase ?? "",
    steps: members,
    state: groupState(members),
    ms: members.reduce((sum, step) => sum + (step.ms ?? 0), 0),
  }));
}
