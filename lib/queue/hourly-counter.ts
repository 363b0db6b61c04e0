/** How often something happened in the last hours, over all processes: added up here, written to Redis now and then. */
import type { Redis } from "ioredis";

const FLUSH_MS = 10_000;
const HOUR_MS = 3_600_000;
const KEEP_SECONDS = 26 * 3_600;

export interface HourlyCounter {
  note(): void;
  /** The sum over the last `hours` hours, at most 24, the running one included. Rejects when Redis is away. */
  sum(hours: number): Promise<number>;
  close(): Promise<void>;
}

export interface HourlyCounterOptions {
  redis: Redis;
  /** Start of the keys; the number of the hour since 1970 follows. */
  name: string;
  now: () => number;
  onError: (error: unknown) => void;
}

/** A counter; what a process counted in its last seconds is lost when it is killed. */
export function createHourlyCounter({ redis, name, now, onError }: HourlyCounterOptions): HourlyCounter {
  let counted = 0;
  const key = (hour: number) => `${name}:${hour}`;
  const hour = () => Math.floor(now() / HOUR_MS);

  async function flush(): Promise<void> {
    if (counted === 0) return;
    const amount = counted;
    counted = 0;
    try {
      await redis.multi().incrby(key(hour()), amount).expire(key(hour()), KEEP_SECONDS).exec();
    } catch (error) {
      onError(error);
    }
  }

  const timer = setInterval(() => void flush(), FLUSH_MS);
  timer.unref();
  return {
    note() {
      counted += 1;
    },
    async sum(hours) {
      await flush();
      const keys = Array.from({ length: Math.min(24, hours) }, (_, back) => key(hour() - back));
      const values = await redis.mget(...keys);
      return values.reduce((sum, value) => sum + Number(value ?? 0), 0);
    },
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}
