/** The events of each build in a Redis stream; the ids are those that a browser sends back as Last-Event-ID. */
import type { Redis } from "ioredis";
import { z } from "zod";
import { compareEventIds, type StreamEvent, streamEventTypes } from "./event-id.ts";

const MOST_EVENTS = 10_000;
const KEEP_SECONDS = 24 * 3_600;
const fieldsSchema = z.tuple([z.literal("type"), z.enum(streamEventTypes), z.literal("data"), z.string()]);

export interface EventStreams {
  /** Appends one event with an id made by Redis and gives that id. */
  append(buildId: string, event: Omit<StreamEvent, "id">): Promise<string>;
  /** Appends events that bring their ids; those that are not newer than the end of the stream are dropped. */
  appendAll(buildId: string, events: StreamEvent[]): Promise<void>;
  /** What came after the id, oldest first. */
  readAfter(buildId: string, afterId: string, limit: number): Promise<StreamEvent[]>;
}

/** The streams of all builds under one prefix. */
export function createEventStreams(redis: Redis, prefix: string): EventStreams {
  const key = (buildId: string) => `${prefix}:events:${buildId}`;
  return {
    async append(buildId, event) {
      const id = await redis.xadd(key(buildId), "*", "type", event.type, "data", JSON.stringify(event.data));
      await redis.expire(key(buildId), KEEP_SECONDS);
      return id ?? "0-0";
    },
    async appendAll(buildId, events) {
      if (events.length === 0) return;
      const pipeline = redis.pipeline();
      for (const event of events) {
        const data = JSON.stringify(event.data);
        pipeline.xadd(key(buildId), "MAXLEN", "~", MOST_EVENTS, event.id, "type", event.type, "data", data);
      }
      pipeline.expire(key(buildId), KEEP_SECONDS);
      const replies = await pipeline.exec();
      const failure = replies?.find(([error]) => error !== null && !/equal or smaller/.test(error.message));
      if (failure?.[0]) throw failure[0];
    },
    async readAfter(buildId, afterId, limit) {
      const entries = await redis.xrange(key(buildId), `(${afterId}`, "+", "COUNT", limit);
      return entries.map(([id, fields]) => toEvent(id, fields)).sort((a, b) => compareEventIds(a.id, b.id));
    },
  };
}

function toEvent(id: string, fields: string[]): StreamEvent {
  const [, type, , data] = fieldsSchema.parse(fields);
  return { id, type, data: z.record(z.string(), z.unknown()).parse(JSON.parse(data)) };
}
