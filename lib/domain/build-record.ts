/** What is written down about one build, as the rest of the program sees it. */
import type { BuildState } from "./build-state.ts";

const BUILD_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** True for a text that can be the ID of a build: a UUID (RFC 9562 §4) in lower case, as Postgres takes it. */
export const isBuildId = (text: string): boolean => BUILD_ID.test(text);

/** Path of the file that a build made: under its lock where it has one, since tags may mean something else by now. */
export function buildFilePath(
  build: Pick<BuildRecord, "schematicId" | "version" | "path" | "lockId">,
): string {
  const { schematicId, version, path, lockId } = build;
  return lockId === null ? `/image/${schematicId}/${version}/${path}` : `/api/v1/locks/${lockId}/${path}`;
}

export interface BuildError {
  code: string;
  message: string;
  hint?: string;
  /** Phase and step title in which it happened, tool, exit code, last lines. */
  detail?: Record<string, unknown>;
  /** False: the same work cannot succeed, so it is not tried again for a while. */
  retryable?: boolean;
}

export interface BuildTiming {
  title: string;
  phase: string;
  ms: number;
  cached: boolean;
}

export interface BuildRecord {
  id: string;
  assetKey: string;
  schematicId: string;
  version: string;
  path: string;
  /** The lock it was started from, null for what the tags of that time gave. */
  lockId: string | null;
  state: BuildState;
  phase: string | null;
  step: number;
  steps: number;
  percent: number;
  note: string | null;
  error: BuildError | null;
  timings: BuildTiming[];
  /** How often a worker took it. Together with `worker` it is the fence against a worker that lost the build. */
  attempts: number;
  /** How many of them failed; a stopped worker that hands its build back did not fail. */
  failures: number;
  /** True: goes on when nobody waits. */
  detached: boolean;
  requestId: string;
  worker: string | null;
  heartbeatAt: Date | null;
  queuedAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
}

/** What a worker gets that takes a build. Nobody else reads plans: they may hold an embedded machine configuration. */
export interface ClaimedBuild extends BuildRecord {
  /** The plan as stored; whoever runs it parses it. */
  plan: unknown;
}

export interface AssetRecord {
  key: string;
  kind: string;
  fileName: string;
  version: string;
  sha256: string;
  sha512: string;
  sizeBytes: number;
  storageKey: string;
  /** Digests of what it was made from. */
  inputs: unknown;
  /** The worker that made it. */
  builtBy: string;
  builtInMs: number;
  createdAt: Date;
}

/** Proof that a worker owns a build: a second worker has another name or a later attempt. */
export interface BuildClaim {
  id: string;
  worker: string;
  attempt: number;
}
