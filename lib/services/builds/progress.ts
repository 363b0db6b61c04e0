/** Follows one attempt: turns what the imager reports into the row's progress and into events for readers. */
import type { BuildProgressRow } from "../../db/build-repository.ts";
import type { Phase } from "../../domain/build-phases.ts";
import type { BuildProgress } from "../../imager/types.ts";
import type { EventWriter } from "../../queue/event-writer.ts";

/** At most one progress event in this time, per build. */
const EVENT_EVERY_MS = 250;

interface Step {
  title: string;
  phase: Phase;
  cached: boolean;
  /** 0 to 100. */
  percent: number;
}

/** Steps may run side by side, so the whole is counted, not read off the newest number. */
export class ProgressTracker {
  readonly #writer: Pick<EventWriter, "add">;
  readonly #now: () => number;
  readonly #row: BuildProgressRow = { phase: null, step: 0, steps: 0, percent: 0, note: null, timings: [] };
  readonly #running = new Map<number, Step>();
  #done = 0;
  #lastEventAt = 0;

  constructor(writer: Pick<EventWriter, "add">, now: () => number) {
    this.#writer = writer;
    this.#now = now;
  }

  /** Where the work is, for the row. */
  row(): BuildProgressRow {
    return { ...this.#row, timings: [...this.#row.timings] };
  }

  /** Where the work is, for an error that does not say it itself. */
  place(): { phase: string | null; step: string | null } {
    return { phase: this.#row.phase, step: this.#row.note };
  }

  report(event: BuildProgress): void {
    if (event.type === "phase") this.#begin(event);
    else if (event.type === "progress") this.#progress(event);
    else if (event.type === "done") this.#end(event);
    else this.#writer.add("log", { line: event.line });
  }

  #begin({ type: _type, ...event }: Extract<BuildProgress, { type: "phase" }>): void {
    const { title, phase, cached } = event;
    this.#running.set(event.step, { title, phase, cached, percent: 0 });
    this.#row.phase = phase;
    this.#row.note = title;
    this.#row.steps = event.of;
    this.#count();
    this.#writer.add("phase", event);
  }

  #progress({ type: _type, ...event }: Extract<BuildProgress, { type: "progress" }>): void {
    const step = this.#running.get(event.step);
    if (step !== undefined) step.percent = Math.min(100, Math.max(0, event.percent));
    this.#count();
    const now = this.#now();
    if (now - this.#lastEventAt < EVENT_EVERY_MS) return;
    this.#lastEventAt = now;
    this.#writer.add("progress", { ...event, overall: this.#row.percent });
  }

  #end(event: Extract<BuildProgress, { type: "done" }>): void {
    const step = this.#running.get(event.step);
    if (step === undefined) return;
    this.#running.delete(event.step);
    this.#done += 1;
    this.#row.timings.push({ title: step.title, phase: step.phase, ms: event.ms, cached: step.cached });
    this.#count();
    const { steps: of, percent: overall } = this.#row;
    this.#writer.add("progress", { step: event.step, of, percent: 100, ms: event.ms, overall });
  }

  /** What is done plus the shares of what runs; never goes back. */
  #count(): void {
    const { steps } = this.#row;
    let shares = this.#done;
    for (const step of this.#running.values()) shares += step.percent / 100;
    this.#row.step = Math.min(steps, this.#done + 1);
    if (steps > 0) this.#row.percent = Math.max(this.#row.percent, Math.round((shares / steps) * 1_000) / 10);
  }
}
