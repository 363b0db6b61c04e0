/** What the composition root gives to the processes: one object per process, closed in the right order. */
import type { Redis } from "ioredis";
import type { Logger } from "pino";
import type { Config } from "./config/types.ts";
import type { Database } from "./db/client.ts";
import type { Services } from "./services/contracts.ts";
import type { ObjectStore } from "./storage/object-store.ts";

export type Role = "web" | "worker";

export interface Runtime {
  config: Config;
  log: Logger;
  services: Services;
  db: Database;
  redis: Redis;
  store: ObjectStore;
  /** Ends everything that was started, in order; safe to call twice. */
  close(): Promise<void>;
}
