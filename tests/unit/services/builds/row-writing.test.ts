/** Moves at the end of an attempt, while Postgres comes and goes. */
import { pino } from "pino";
import { expect, test } from "vitest";
import type { BuildRepository } from "../../../../lib/db/build-repository.ts";
import { moveOwn } from "../../../../lib/services/builds/row-writing.ts";

const log = pino({ level: "silent" });
const claim = { id: "b", worker: "w", attempt: 2 };
const row = { worker: "w", attempts: 2, state: "uploading" };

function repository(found: Record<string, unknown> | null) {
  const find = async () => found;
  return { find } as unknown as Pick<BuildRepository, "find">;
}

/** A write whose first answer is lost, and whose later tries find the row moved already. */
function answerLost() {
  let tries = 0;
  return async () => {
    tries += 1;
    if (tries === 1) throw new Error("connection terminated");
    return false;
  };
}

const move = (found: Record<string, unknown> | null, write: () => Promise<boolean>) =>
  moveOwn({ builds: repository(found), claim, move: "upload", log, pauseMs: 1 }, write);

test("a move that was committed while its answer got lost is a success", async () => {
  expect(await move(row, answerLost())).toBe(true);
});

test("it is none when the row says something else, or belongs to another attempt", async () => {
  expect(await move({ ...row, state: "cancelled" }, answerLost())).toBe(false);
  expect(await move({ ...row, attempts: 3 }, answerLost())).toBe(false);
  expect(await move({ ...row, worker: "other" }, answerLost())).toBe(false);
  expect(await move(null, answerLost())).toBe(false);
});

test("a refusal at the first try is a refusal", async () => {
  expect(await move(row, async () => false)).toBe(false);
});
