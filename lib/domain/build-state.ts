/** The states of a build and the one table that says which event leads from which state to which. */

export const BUILD_STATES = ["queued", "building", "uploading", "ready", "failed", "cancelled"] as const;
export type BuildState = (typeof BUILD_STATES)[number];

export const BUILD_MOVES = ["claim", "upload", "succeed", "retry", "fail", "cancel"] as const;
/**
 * What can happen to a build. claim: a worker takes it; upload: all steps are done; succeed: the artifact is in the
 * store; retry: the try ended, another one is allowed; fail: no other try; cancel: nobody wants it any more.
 */
export type BuildMove = (typeof BUILD_MOVES)[number];

/** Null: the move is not allowed in that state. Every pair is spelled out, so a new state cannot be forgotten. */
const TABLE: Record<BuildState, Record<BuildMove, BuildState | null>> = {
  queued: {
    claim: "building",
    upload: null,
    succeed: null,
    retry: null,
    fail: "failed",
    cancel: "cancelled",
  },
  building: {
    claim: null,
    upload: "uploading",
    succeed: null,
    retry: "queued",
    fail: "failed",
    cancel: "cancelled",
  },
  uploading: {
    claim: null,
    upload: null,
    succeed: "ready",
    retry: "queued",
    fail: "failed",
    cancel: "cancelled",
  },
  ready: { claim: null, upload: null, succeed: null, retry: null, fail: null, cancel: null },
  failed: { claim: null, upload: null, succeed: null, retry: null, fail: null, cancel: null },
  cancelled: { claim: null, upload: null, succeed: null, retry: null, fail: null, cancel: null },
};

/** The states in which a move is allowed and the one state it leads to: what a guarded UPDATE needs. */
export function buildMove(move: BuildMove): { from: BuildState[]; to: BuildState } {
  const from = BUILD_STATES.filter((state) => TABLE[state][move] !== null);
  const targets = new Set(from.map((state) => TABLE[state][move]));
  const [to] = targets;
  if (targets.size !== 1 || to === undefined || to === null)
    throw new Error(`move ${move} has no single target`);
  return { from, to };
}

/** True while a worker or the queue still has to do something. */
export function isRunning(state: BuildState): boolean {
  return BUILD_MOVES.some((move) => TABLE[state][move] !== null);
}

export const RUNNING_STATES: readonly BuildState[] = BUILD_STATES.filter(isRunning);
export const FINISHED_STATES: readonly BuildState[] = BUILD_STATES.filter((state) => !isRunning(state));

/** Reads a state written by another process; throws on a text that is none. */
export function parseBuildState(text: string): BuildState {
  const state = BUILD_STATES.find((known) => known === text);
  if (state === undefined) throw new Error(`unknown build state "${text}"`);
  return state;
}
