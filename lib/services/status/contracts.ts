/** How the factory does: what an operator looks at first, and what load balancers ask. */
import type { BuildState } from "../../domain/build-state.ts";

export interface SourceStatus {
  registry: string;
  /** When the list was last read from the registry; null before the first success. */
  checkedAt: Date | null;
  /** Why the last refresh failed, null when it went well. */
  failure: string | null;
  /** Shown as a warning on pages when off. */
  verification: "off" | "key" | "keyless";
}

export interface HealthCheck {
  name: "tools" | "postgres" | "redis" | "store" | "source";
  ok: boolean;
  /** What to do, for anybody; empty when ok. */
  hint: string;
  /** What is wrong in the words of a driver, for the log: it may name hosts and folders. Empty when ok. */
  reason: string;
}

export interface HealthService {
  readiness(): Promise<HealthCheck[]>;
}

/** Files of one kind, or objects below one folder of the store. */
export interface StoreUse {
  name: string;
  count: number;
  sizeBytes: number;
}

export interface FactoryStatus {
  checks: HealthCheck[];
  /** Builds under way now, and those that ended within the last 24 hours. */
  builds: Record<BuildState, number>;
  /** Numbered as they are listed: names would tell more of a machine than its host. Null while Redis is away. */
  workers: { number: number; host: string; slots: number; running: number }[] | null;
  /** Over the last 24 hours. `downloads` is null while Redis is away. */
  reuse: { downloads: number | null; built: number; steps: number; stepsCached: number };
  store: {
    kind: "directory" | "s3";
    /** Ready files by kind. */
    assets: StoreUse[];
    /** Everything in the store by its first folder; null until it was counted for the first time. */
    folders: { uses: StoreUse[]; countedAt: Date } | null;
  };
  source: SourceStatus;
  releases: {
    listed: number;
    /** Null when nothing is listed. */
    newest: string | null;
    /** Not offered until they are whole, newest first. */
    incomplete: { version: string; missing: string[] }[];
  };
}

export interface StatusService {
  /** What is known now; parts that do not answer are null or empty, never a failure. */
  read(): Promise<FactoryStatus>;
}
