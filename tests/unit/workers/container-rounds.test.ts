/** Rounds for leftover containers: nothing waits for them, and trouble is told once. */
import { expect, onTestFinished, test } from "vitest";
import { startContainerRounds } from "../../../workers/container-rounds.ts";

/** Rounds over a runner that answers like this, one after another; the last answer stays. */
function roundsOf(answers: ((signal?: AbortSignal) => Promise<number>)[]) {
  const said: string[] = [];
  let asked = 0;
  const stop = startContainerRounds({
    containers: {
      removeLeftovers: (_, signal) => {
        asked += 1;
        const answer = answers.length > 1 ? answers.shift() : answers[0];
        return answer?.(signal) ?? Promise.resolve(0);
      },
    },
    isAlive: () => Promise.resolve(true),
    everyMs: 1,
    log: {
      warn: (_: unknown, text?: string) => void said.push(`warn ${text}`),
      info: (text: unknown) => void said.push(`info ${text}`),
    },
  });
  onTestFinished(stop);
  return { said, stop, asked: () => asked };
}

const away = () => Promise.reject(new Error("no daemon"));

test("a daemon that hangs gets one question, and the end of the worker takes it back", async () => {
  let given: AbortSignal | undefined;
  const rounds = roundsOf([
    (signal) => {
      given = signal;
      return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
    },
  ]);
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(rounds.asked()).toBe(1);
  rounds.stop();
  expect(given?.aborted).toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect([rounds.asked(), rounds.said]).toEqual([1, []]);
});

test("the same trouble is told once, and its end too", async () => {
  const other = () => Promise.reject(new Error("no namespaces"));
  const rounds = roundsOf([away, away, away, other, () => Promise.resolve(2), () => Promise.resolve(0)]);
  await expect.poll(rounds.asked).toBeGreaterThan(7);
  const cannot = "warn imager images cannot be run here";
  expect(rounds.said).toEqual([
    cannot,
    cannot,
    "warn containers of dead builds removed",
    "info imager images can be run here again",
  ]);
});
