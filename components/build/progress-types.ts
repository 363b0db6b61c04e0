/** The picture a page has of a running build, and the events that change it. */
import type { BuildError, BuildState } from "../../lib/services/contracts.ts";
import type { EventData } from "./event-data.ts";

export type StepState = "waiting" | "running" | "done" | "failed";

export interface StepProgress {
  title: string;
  phase: string;
  state: StepState;
  /** As the worker counts them; null until it said so, because work that is already there is left out. */
  number: number | null;
  /** Set when done. Milliseconds. */
  ms: number | null;
  cached: boolean;
  /** Of the running step. */
  percent: number;
  note: string | null;
  /** When it began and ended, in milliseconds since 1970; null when only its duration is known. */
  span: { from: number; to: number } | null;
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

export interface StreamEvent {
  type: string;
  data: EventData;
  /** When it was written, in milliseconds since 1970. */
  at: number;
}
