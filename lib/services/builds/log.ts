/** The stored log of a build: one event per line under logs/, what is left when the stream in Redis is gone. */
import { createInterface } from "node:readline";
import { z } from "zod";
import { AppError } from "../../errors/app-error.ts";
import { compareEventIds, type StreamEvent, streamEventTypes } from "../../queue/event-id.ts";
import type { ObjectStore } from "../../storage/object-store.ts";

const eventSchema = z.object({
  id: z.string(),
  type: z.enum(streamEventTypes),
  data: z.record(z.string(), z.unknown()),
});

export const buildLogKey = (buildId: string) => `logs/${buildId}.ndjson`;

/** The stored events after the id, oldest first; nothing when there is no log. */
export async function* readBuildLog(
  store: ObjectStore,
  buildId: string,
  afterId: string,
): AsyncIterable<StreamEvent> {
  const stream = await store.get(buildLogKey(buildId)).catch((error: unknown) => {
    if (error instanceof AppError && error.code === "not_found") return null;
    throw error;
  });
  if (stream === null) return;
  try {
    for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
      const event = eventSchema.safeParse(parseLine(line));
      if (event.success && compareEventIds(event.data.id, afterId) > 0) yield event.data;
    }
  } finally {
    stream.destroy();
  }
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
