/** Connections to Redis: one kind for questions that must be answered soon, one that waits as long as it takes. */
import { Redis } from "ioredis";

const COMMON = {
  connectTimeout: 5_000,
  enableReadyCheck: true,
  retryStrategy: (times: number) => Math.min(2_000, 50 * 2 ** Math.min(times, 6)),
};

/** For commands: gives up after a few seconds, because Redis may be lost and nothing may hang on it. */
export function createRedis(url: string, onError: (error: Error) => void): Redis {
  const redis = new Redis(url, { ...COMMON, maxRetriesPerRequest: 2, commandTimeout: 3_000 });
  redis.on("error", onError);
  return redis;
}

/** For blocking reads and subscriptions: reconnects for ever. */
export function createPatientRedis(url: string, onError: (error: Error) => void): Redis {
  const redis = new Redis(url, { ...COMMON, maxRetriesPerRequest: null });
  redis.on("error", onError);
  return redis;
}
