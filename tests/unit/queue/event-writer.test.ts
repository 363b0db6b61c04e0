/** Events of an attempt while Redis comes and goes. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import type { StreamEvent } from "../../../lib/queue/event-id.ts";
import type { EventStreams } from "../../../lib/queue/event-stream.ts";
import { EventWriter } from "../../../lib/queue/event-writer.ts";
import type { BuildSignals } from "../../../lib/queue/signals.ts";

async function open() {
  const dir = await mkdtemp(path.join(tmpdir(), "event-writer-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  const stream: StreamEvent[] = [];
  const redis = { away: false };
  const streams: EventStreams = {
    append: () => Promise.reject(new Error("not part of this test")),
    async appendAll(_id, events) {
      if (redis.away) throw new Error("away");
      stream.push(...events);
    },
    readAfter: async () => [],
  };
  const signals: BuildSignals = { publish: async () => {}, listen: () => () => {}, close: async () => {} };
  const file = path.join(dir, "events");
  const onError = () => undefined;
  const writer = await EventWriter.open({ buildId: "b", streams, signals, file, now: Date.now, onError });
  const lines = () => stream.map((event) => event.data.line);
  return { writer, redis, lines, file };
}

test("what could not be sent while Redis was away comes later, in order, also without new events", async () => {
  const { writer, redis, lines, file } = await open();
  redis.away = true;
  writer.add("log", { line: 1 });
  writer.add("log", { line: 2 });
  await writer.flush();
  writer.add("log", { line: 3 });
  expect(lines()).toEqual([]);
  redis.away = false;
  await vi.waitFor(() => expect(lines()).toEqual([1, 2, 3]), { timeout: 3_000 });
  await writer.close();
  expect((await readFile(file, "utf8")).trim().split("\n")).toHaveLength(3);
});

test("a Redis that stays away holds up nothing, and only the newest 5,000 events wait for it", async () => {
  const { writer, redis, lines } = await open();
  redis.away = true;
  for (let line = 0; line < 4_000; line += 1) writer.add("log", { line });
  await writer.flush();
  for (let line = 4_000; line < 6_000; line += 1) writer.add("log", { line });
  await writer.flush();
  redis.away = false;
  await writer.close();
  expect([lines().length, lines()[0], lines().at(-1)]).toEqual([5_000, 1_000, 5_999]);
});
