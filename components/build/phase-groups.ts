/** Steps of a build put together for reading. Pure. */
import type { StepProgress, StepState } from "./progress-types.ts";

export interface PhaseGroup {
  phase: string;
  steps: StepProgress[];
  state: StepState;
  /** From the first begin to the last end, as far as known. */
  ms: number;
}

function groupState(steps: StepProgress[]): StepState {
  if (steps.some((step) => step.state === "failed")) return "failed";
  if (steps.every((step) => step.state === "done")) return "done";
  return steps.every((step) => step.state === "waiting") ? "waiting" : "running";
}

/** Steps run side by side. Where only durations are known: downloads overlap, the rest hardly does. */
function groupMs(phase: string, steps: StepProgress[]): number {
  const spans = steps.flatMap((step) => (step.span === null ? [] : [step.span]));
  const done = steps.flatMap((step) => (step.ms === null ? [] : [step.ms]));
  if (spans.length > 0 && spans.length === done.length)
    return Math.max(...spans.map((span) => span.to)) - Math.min(...spans.map((span) => span.from));
  return phase === "fetch" ? Math.max(0, ...done) : done.reduce((sum, ms) => sum + ms, 0);
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
    ms: groupMs(members[0]?.phase ?? "", members),
  }));
}
