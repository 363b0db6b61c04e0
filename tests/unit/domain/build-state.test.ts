/** The table of build states, checked as a whole. */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  BUILD_MOVES,
  BUILD_STATES,
  type BuildMove,
  type BuildState,
  buildMove,
  FINISHED_STATES,
  isRunning,
  parseBuildState,
  RUNNING_STATES,
} from "../../../lib/domain/build-state.ts";

/** State after the move, or null when the move is not allowed. */
function nextBuildState(state: BuildState, move: BuildMove): BuildState | null {
  const { from, to } = buildMove(move);
  return from.includes(state) ? to : null;
}

test("any sequence of moves keeps to the table and never leaves a finished state", () => {
  const moves = fc.array(fc.constantFrom(...BUILD_MOVES), { maxLength: 40 });
  fc.assert(
    fc.property(moves, (sequence) => {
      let state: BuildState = "queued";
      let claimed = false;
      for (const move of sequence) {
        const next = nextBuildState(state, move);
        if (next === null) continue;
        expect(isRunning(state)).toBe(true);
        if (next === "ready") expect([state, move]).toEqual(["uploading", "succeed"]);
        if (next === "uploading") expect(claimed).toBe(true);
        if (move === "claim") claimed = true;
        if (next === "queued") claimed = false;
        state = next;
      }
    }),
  );
});

test("every state can be reached, and from every running state every end", () => {
  const reach = (from: BuildState): Set<BuildState> => {
    const seen = new Set<BuildState>([from]);
    for (const state of seen) {
      for (const move of BUILD_MOVES) {
        const next = nextBuildState(state, move);
        if (next !== null) seen.add(next);
      }
    }
    return seen;
  };
  expect([...reach("queued")].sort()).toEqual([...BUILD_STATES].sort());
  for (const state of RUNNING_STATES) for (const end of FINISHED_STATES) expect(reach(state)).toContain(end);
});

test("the running states are those of the unique index in the migration", () => {
  expect([...RUNNING_STATES]).toEqual(["queued", "building", "uploading"]);
  expect([...FINISHED_STATES]).toEqual(["ready", "failed", "cancelled"]);
});

test("refuses a state it does not know", () => {
  expect(() => parseBuildState("done")).toThrow('unknown build state "done"');
});
