/** How the factory does: what an operator looks at first. */
import type { BuildState } from "../domain/build-state.ts";
import type { HealthCheck, SourceStatus } from "./contracts.ts";

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
  /** Null while Redis is away. */
  workers: { name: string; host: string; slots: number; running: number }[] | null;
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
