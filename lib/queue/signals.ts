/** One pub/sub channel for all builds: a message only says "look again", the row or stream says what happened. */
import type { Redis } from "ioredis";

/** changed: the row moved to another state; events: the stream grew. */
export type Signal = "changed" | "events";
type Listener = (signal: Signal) => void;

export interface BuildSignals {
  /** Tells every process; quietly does nothing when Redis is away, since all listeners also look by themselves. */
  publish(buildId: string, signal: Signal): Promise<void>;
  /** Calls back on each signal of the build, and once after a lost connection came back. Gives the way to stop. */
  listen(buildId: string, listener: Listener): () => void;
  close(): Promise<void>;
}

export interface SignalsOptions {
  /** Where to publish. */
  redis: Redis;
  /** A connection of its own, which can do nothing but listen. */
  subscriber: Redis;
  prefix: string;
  onError: (error: Error) => void;
}

/** Starts to listen at once. */
export function createBuildSignals(options: SignalsOptions): BuildSignals {
  const channel = `${options.prefix}:builds`;
  const listeners = new Map<string, Set<Listener>>();
  const call = (buildId: string, signal: Signal) => {
    for (const listener of listeners.get(buildId) ?? []) listener(signal);
  };
  options.subscriber.on("message", (_channel: string, message: string) => {
    const [buildId = "", signal] = message.split(" ");
    if (signal === "changed" || signal === "events") call(buildId, signal);
  });
  options.subscriber.on("ready", () => {
    for (const buildId of [...listeners.keys()]) call(buildId, "changed");
  });
  options.subscriber.subscribe(channel).catch(options.onError);
  return {
    async publish(buildId, signal) {
      await options.redis.publish(channel, `${buildId} ${signal}`).catch(options.onError);
    },
    listen(buildId, listener) {
      const own = listeners.get(buildId) ?? new Set();
      own.add(listener);
      listeners.set(buildId, own);
      return () => {
        own.delete(listener);
        if (own.size === 0 && listeners.get(buildId) === own) listeners.delete(buildId);
      };
    },
    async close() {
      listeners.clear();
      options.subscriber.disconnect();
    },
  };
}
