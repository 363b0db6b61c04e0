/** Who waits for a build, in Redis: each waiter says so every few seconds, so a dead process stops counting by itself. */
import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";

const HEARTBEAT_MS = 5_000;
/** A waiter that was silent for so long is gone. */
const ALIVE_MS = 15_000;
const KEEP_SECONDS = 3_600;

/** Times are those of the Redis server, so the clocks of the machines need not agree. */
const NOW = `local t = redis.call("TIME"); local now = t[1] * 1000 + math.floor(t[2] / 1000);`;
const TOUCH = `${NOW}
redis.call("ZADD", KEYS[1], now + ARGV[2], ARGV[1]); redis.call("EXPIRE", KEYS[1], ARGV[3]); return 1`;
const LOOK = `${NOW}
local last = redis.call("ZREVRANGE", KEYS[1], 0, 0, "WITHSCORES");
local idle = -1;
if last[2] then idle = math.max(0, now - tonumber(last[2])) end;
return { redis.call("ZCOUNT", KEYS[1], now + 1, "+inf"), idle }`;
const COUNT = `${NOW}
local counts = {};
for i, key in ipairs(KEYS) do counts[i] = redis.call("ZCOUNT", key, now + 1, "+inf") end;
return counts`;

export interface WaitersView {
  /** Requests that wait now. */
  count: number;
  /** Milliseconds since the last one was there; null when Redis knows of none. */
  idleMs: number | null;
}

export interface Waiters {
  /** Counts as waiting until the returned function is called. */
  join(buildId: string): () => void;
  /** How many wait for each of these builds, in their order, in one question. Rejects when Redis is away. */
  count(buildIds: string[]): Promise<number[]>;
  /** Rejects when Redis is away. */
  look(buildId: string): Promise<WaitersView>;
}

/** The waiters of all builds under one prefix. */
export function createWaiters(redis: Redis, prefix: string, onError: (error: Error) => void): Waiters {
  const key = (buildId: string) => `${prefix}:waiters:${buildId}`;
  const touch = (buildId: string, waiter: string, forMs: number) =>
    redis.eval(TOUCH, 1, key(buildId), waiter, forMs, KEEP_SECONDS).catch(onError);
  return {
    join(buildId) {
      const waiter = randomUUID();
      void touch(buildId, waiter, ALIVE_MS);
      const timer = setInterval(() => void touch(buildId, waiter, ALIVE_MS), HEARTBEAT_MS);
      return () => {
        clearInterval(timer);
        // Stays in the set as "was here just now": that is where the grace period counts from.
        void touch(buildId, waiter, 0);
      };
    },
    async count(buildIds) {
      if (buildIds.length === 0) return [];
      const answer = await redis.eval(COUNT, buildIds.length, ...buildIds.map(key));
      return Array.isArray(answer) ? answer.map(Number) : [];
    },
    async look(buildId) {
      const answer = await redis.eval(LOOK, 1, key(buildId));
      const [count, idleMs] = Array.isArray(answer) ? answer.map(Number) : [];
      return { count: count ?? 0, idleMs: idleMs === undefined || idleMs < 0 ? null : idleMs };
    },
  };
}
