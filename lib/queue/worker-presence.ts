/** Which workers are there, in Redis: each says so now and then, so a dead one stops counting by itself. */
import type { Redis } from "ioredis";
import { z } from "zod";

/** A worker that was silent for so long is gone. Workers say so every 10 s. */
const ALIVE_MS = 35_000;

/** Times are those of the Redis server, so the clocks of the machines need not agree. */
const NOW = `local t = redis.call("TIME"); local now = t[1] * 1000 + math.floor(t[2] / 1000);`;
const SAY = `${NOW}
redis.call("HSET", KEYS[1], ARGV[1], cjson.encode({ slots = tonumber(ARGV[2]), till = now + ${ALIVE_MS} })); return 1`;
const LOOK = `${NOW}
local alive = {};
local all = redis.call("HGETALL", KEYS[1]);
for i = 1, #all, 2 do
  local entry = cjson.decode(all[i + 1]);
  if entry.till > now then table.insert(alive, { all[i], entry.slots }) else redis.call("HDEL", KEYS[1], all[i]) end
end
return alive`;

const answerSchema = z.array(z.tuple([z.string(), z.number()]));

export interface PresentWorker {
  /** "<host>/<scope>/<pid>/<nonce>", the name in the rows of its builds. */
  name: string;
  /** Builds it runs at once. */
  slots: number;
}

export interface WorkerPresence {
  /** Counts as there for the next half minute. Rejects when Redis is away. */
  say(worker: PresentWorker): Promise<void>;
  leave(name: string): Promise<void>;
  /** Those that are there, by name. Rejects when Redis is away. */
  look(): Promise<PresentWorker[]>;
}

/** The workers under one prefix. */
export function createWorkerPresence(redis: Redis, prefix: string): WorkerPresence {
  const key = `${prefix}:workers`;
  return {
    async say({ name, slots }) {
      await redis.eval(SAY, 1, key, name, slots);
    },
    async leave(name) {
      await redis.hdel(key, name);
    },
    async look() {
      const workers = answerSchema.parse(await redis.eval(LOOK, 1, key));
      return workers.map(([name, slots]) => ({ name, slots })).sort((a, b) => (a.name < b.name ? -1 : 1));
    },
  };
}
