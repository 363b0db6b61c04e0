"use client";
/** The phases of a build as a vertical line: done ones with their time, the running one alive, the rest to come. */
import { PHASES, type Phase } from "../../lib/domain/build-phases.ts";
import type { Words } from "../words/translator.ts";
import { useWords } from "../words/words-provider.tsx";
import { type PhaseGroup, phaseGroups } from "./phase-groups.ts";
import type { StepProgress, StepState } from "./progress-types.ts";

const DOTS: Record<StepState, string> = {
  waiting: "border-line bg-paper",
  running: "border-accent bg-accent breathing",
  done: "border-good bg-good",
  failed: "border-bad bg-bad",
};

const isPhase = (text: string): text is Phase => PHASES.some((phase) => phase === text);

function timeOf({ t, duration }: Words, group: PhaseGroup): string {
  if (group.state === "waiting") return "";
  const reused = group.steps.every((step) => step.cached);
  if (group.state === "done") return reused ? t("phase.reused") : duration(group.ms);
  const running = group.steps.find((step) => step.state === "running");
  return running ? (running.note ?? t("percent", { percent: running.percent })) : "";
}

function Steps({ steps }: { steps: StepProgress[] }) {
  const words = useWords();
  return (
    <ul className="mt-0.5 space-y-0.5 text-sm text-soft" lang="en">
      {steps.map((step, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: steps keep their places
        <li key={index} className="flex justify-between gap-4">
          <span className="min-w-0">{step.title}</span>
          {steps.length > 1 && step.ms !== null && (
            <span className="shrink-0" lang={words.language}>
              {step.cached ? words.t("phase.reused") : words.duration(step.ms)}
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

export function PhaseLine({ steps }: { steps: StepProgress[] }) {
  const words = useWords();
  const groups = phaseGroups(steps);
  const label = ({ phase }: PhaseGroup) => (isPhase(phase) ? words.t(`phase.${phase}`) : phase);
  const longest = Math.max(1, ...groups.map((group) => group.ms));
  return (
    <ol className="relative">
      {groups.map((group, index) => (
        <li
          // biome-ignore lint/suspicious/noArrayIndexKey: phases keep their places
          key={index}
          aria-current={group.state === "running" ? "step" : undefined}
          className="relative pb-5 pl-8 before:absolute before:bottom-0 before:left-[6px] before:top-2 before:w-px before:bg-line last:pb-0 last:before:hidden"
        >
          <span
            className={`absolute left-0 top-1.5 size-[13px] rounded-full border-2 ${DOTS[group.state]}`}
          />
          <div className="flex items-baseline justify-between gap-4">
            <span className={group.state === "waiting" ? "text-soft" : "font-medium"}>
              {label(group)}
              <span className="sr-only"> {words.t(`step.${group.state}`)}</span>
            </span>
            <span className="shrink-0 text-sm">{timeOf(words, group)}</span>
          </div>
          {group.steps.length === 1 && group.steps[0]?.title === label(group) ? null : (
            <Steps steps={group.steps} />
          )}
          {group.ms > 0 && !group.steps.every((step) => step.cached) && (
            <span
              aria-hidden="true"
              className="mt-1 block h-[3px] rounded-full bg-accent/60"
              style={{ width: `${Math.max(1, (group.ms / longest) * 100)}%` }}
            />
          )}
        </li>
      ))}
    </ol>
  );
}
