/** Walks a plan: only what the missing parts need, independent steps side by side, every failure with its place. */
import { setMaxListeners } from "node:events";
import { mkdir, rm } from "node:fs/promises";
import { join, sep } from "node:path";
import pLimit from "p-limit";
import type { Phase } from "../domain/build-phases.ts";
import { AppError } from "../errors/app-error.ts";
import { findStep } from "./steps/index.ts";
import type { BuildPlan, PlanInput, PlanStep, Product, RunPlanOptions } from "./types.ts";

/** Steps at the same time; the heavy ones use every core by themselves. */
const PARALLEL_STEPS = 2;
const PARALLEL_FETCHES = 4;
/** What one download from an S3 server listens with, and one to spare. */
const LISTENERS_EACH = 4;

/** One thing to do, numbered for people. */
interface Unit {
  number: number;
  phase: Phase;
  title: string;
}

interface Walk {
  plan: BuildPlan;
  /** Of the plan, by id. */
  steps: Map<string, PlanStep>;
  inputs: Map<string, PlanInput>;
  options: RunPlanOptions;
  signal: AbortSignal;
  /** Stops everything else after the first failure. */
  stop: (reason: unknown) => void;
  /** Products of parts that were there. */
  cached: Map<string, Product>;
  units: Map<string, Unit>;
  running: Map<string, Promise<Product>>;
  limitStep: ReturnType<typeof pLimit>;
  limitFetch: ReturnType<typeof pLimit>;
}

/**
 * Makes the plan's asset in `options.dir` (or finds it among the parts) and gives its place. After a rejection nothing
 * runs any more. Rejects with AppError: details name phase, step and tool; cancelled when the signal was the cause.
 */
export async function runPlan(plan: BuildPlan, options: RunPlanOptions): Promise<Product> {
  const last = plan.steps.at(-1);
  if (!last) throw new AppError("internal", "the plan has no steps", { retryable: false });
  const inner = new AbortController();
  const signal = AbortSignal.any([options.signal, inner.signal]);
  // Looking for a part or fetching an input hangs a few listeners on it, all at once; more would be a leak.
  setMaxListeners(LISTENERS_EACH * (plan.inputs.length + plan.steps.length), signal);
  const walk: Walk = {
    plan,
    steps: byId(plan.steps),
    inputs: byId(plan.inputs),
    options,
    signal,
    stop: (reason) => inner.abort(reason),
    cached: new Map(),
    units: new Map(),
    running: new Map(),
    limitStep: pLimit(PARALLEL_STEPS),
    limitFetch: pLimit(PARALLEL_FETCHES),
  };
  try {
    await findCached(walk, last.id);
    numberUnits(walk);
    for (const id of walk.cached.keys()) reportCached(walk, id);
    return await ensure(walk, last.id);
  } catch (error) {
    walk.stop(error);
    await Promise.allSettled(walk.running.values());
    if (options.signal.aborted) throw cancelled(error);
    throw error;
  }
}

const cancelled = (cause: unknown): AppError =>
  cause instanceof AppError && cause.code === "cancelled"
    ? cause
    : new AppError("cancelled", "the build was cancelled", { cause });

const byId = <T extends { id: string }>(list: readonly T[]): Map<string, T> =>
  new Map(list.map((one) => [one.id, one]));

/** Looks up parts from the asset downwards and notes what has to be done; below a part that is there nothing is needed. */
async function findCached(walk: Walk, last: string): Promise<void> {
  const seen = new Set<string>();
  const visit = async (id: string): Promise<void> => {
    if (seen.has(id)) return;
    seen.add(id);
    walk.signal.throwIfAborted();
    const step = walk.steps.get(id);
    walk.units.set(id, { number: 0, ...describe(walk, id) });
    if (!step) return;
    const part = step.part ? await walk.options.parts.find(step.op, step.key, walk.signal) : null;
    if (part) walk.cached.set(id, part);
    else await Promise.all(step.needs.map(visit));
  };
  await visit(last);
}

function describe(walk: Walk, id: string): { phase: Phase; title: string } {
  const step = walk.steps.get(id);
  if (step) return { phase: step.phase, title: step.title };
  const input = walk.inputs.get(id);
  if (!input)
    throw new AppError("internal", `the plan names ${id} but does not say what it is`, { retryable: false });
  const what = "path" in input ? `${input.path} of ${input.repository}` : input.repository;
  return { phase: "fetch", title: `Fetch ${what}` };
}

/** Numbers follow the plan, inputs first. */
function numberUnits({ plan, units }: Walk): void {
  let number = 0;
  for (const { id } of [...plan.inputs, ...plan.steps]) {
    const unit = units.get(id);
    if (!unit) continue;
    number += 1;
    unit.number = number;
  }
}

function reportCached(walk: Walk, id: string): void {
  begin(walk, id, true);
  walk.options.onProgress({ type: "done", step: unitOf(walk, id).number, ms: 0 });
}

function unitOf({ units }: Walk, id: string): Unit {
  const unit = units.get(id);
  if (!unit) throw new AppError("internal", `the step ${id} was not planned`, { retryable: false });
  return unit;
}

function begin(walk: Walk, id: string, cached: boolean): void {
  const { number, phase, title } = unitOf(walk, id);
  walk.options.onProgress({ type: "phase", phase, step: number, of: walk.units.size, title, cached });
}

function ensure(walk: Walk, id: string): Promise<Product> {
  const known = walk.running.get(id);
  if (known !== undefined) return known;
  const product = produce(walk, id).catch((error: unknown) => {
    walk.stop(error);
    throw error;
  });
  walk.running.set(id, product);
  return product;
}

async function produce(walk: Walk, id: string): Promise<Product> {
  const cached = walk.cached.get(id);
  if (cached) return cached;
  const step = walk.steps.get(id);
  if (!step) return walk.limitFetch(() => timed(walk, id, () => fetchInput(walk, id)));
  const needs = await Promise.all(step.needs.map((need) => ensure(walk, need)));
  return walk.limitStep(() => timed(walk, id, () => runStep(walk, step, needs)));
}

/** Reports begin and end, and writes the place into whatever goes wrong. */
async function timed(walk: Walk, id: string, work: () => Promise<Product>): Promise<Product> {
  walk.signal.throwIfAborted();
  begin(walk, id, false);
  const started = performance.now();
  try {
    const product = await work();
    const ms = Math.round(performance.now() - started);
    walk.options.onProgress({ type: "done", step: unitOf(walk, id).number, ms });
    return product;
  } catch (error) {
    throw withPlace(error, unitOf(walk, id));
  }
}

async function fetchInput(walk: Walk, id: string): Promise<Product> {
  const input = walk.inputs.get(id);
  if (!input)
    throw new AppError("internal", `the plan names ${id} but does not say what it is`, { retryable: false });
  return walk.options.fetchInput(input, walk.signal);
}

async function runStep(walk: Walk, step: PlanStep, needs: Product[]): Promise<Product> {
  const run = findStep(step.op);
  if (!run) throw new AppError("internal", `no step is called ${step.op}`, { retryable: false });
  const { onProgress, parts } = walk.options;
  const { number } = unitOf(walk, step.id);
  const dir = await freshFolder(walk, `step-${step.id}`);
  const product = await run(step.params, needs, {
    dir,
    run: walk.options.run,
    signal: walk.signal,
    keys: walk.options.keys ?? null,
    containers: walk.options.containers ?? null,
    log: (line) => onProgress({ type: "log", line }),
    progress: (percent, note) =>
      onProgress({
        type: "progress",
        step: number,
        of: walk.units.size,
        percent,
        ...(note === undefined ? {} : { note }),
      }),
  });
  if (!step.part) return product;
  const kept = await parts.keep(step.op, step.key, product, walk.signal);
  // The product has moved away; what else the step wrote only takes room.
  if (!kept.path.startsWith(`${dir}${sep}`)) await rm(dir, { recursive: true, force: true });
  return kept;
}

async function freshFolder(walk: Walk, name: string): Promise<string> {
  const folder = join(walk.options.dir, name);
  await mkdir(folder, { recursive: true });
  return folder;
}

/** The same error with phase and step title among its details; anything unexpected becomes build_failed. */
function withPlace(error: unknown, { phase, title }: Unit): AppError {
  if (!(error instanceof AppError)) {
    return new AppError("build_failed", `The build failed in the step "${title}"`, {
      details: { phase, step: title, reason: error instanceof Error ? error.message : String(error) },
      cause: error,
    });
  }
  if (error.extra.details?.step !== undefined) return error;
  return new AppError(error.code, error.message, {
    ...error.extra,
    details: { phase, step: title, ...error.extra.details },
    cause: error,
  });
}
