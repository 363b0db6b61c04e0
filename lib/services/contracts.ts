/** What the use cases offer to pages, API and workers. The one place to read before writing a route or a page. */
import type { Readable } from "node:stream";
import type { AssetProfile } from "../domain/asset.ts";
import type { BuildForecast } from "../domain/build-forecast.ts";
import type { Phase } from "../domain/build-phases.ts";
import type { BuildError } from "../domain/build-record.ts";
import type { BuildState } from "../domain/build-state.ts";
import type { ModelLock } from "../domain/model-lock.ts";
import type { CatalogExtension, CatalogOverlay, Release } from "../domain/release.ts";
import type { BuildPlan } from "../imager/types.ts";
import type { ByteRange } from "../storage/object-store.ts";
import type { CatalogSide } from "./catalog/contracts.ts";
import type { ChecksumService, LockService, SbomService, SigningService } from "./evidence/contracts.ts";
import type { BootTestService, OwnSourceService } from "./own/contracts.ts";
import type { RegistryService } from "./registry/contracts.ts";
import type { PresetService } from "./schematics/preset-contracts.ts";
import type { StoredSchematic } from "./schematics/stored-schematic.ts";
import type { HealthService, SourceStatus, StatusService } from "./status/contracts.ts";

// ---- schematics

export type { StoredSchematic } from "./schematics/stored-schematic.ts";

export interface SchematicService {
  /** Parses, canonicalizes and stores. A known id costs one read. invalid_input with the decoder's words on bad text. */
  create(text: string): Promise<StoredSchematic>;
  /** Null for unknown or malformed ids. Memory cache in front (positive for ever, negative 30 s). */
  find(id: string): Promise<StoredSchematic | null>;
}

// ---- releases

export interface ReleaseSummary {
  version: string;
  state: "complete" | "incomplete" | "broken";
  /** What is missing when incomplete. */
  missing: string[];
  sample: boolean;
  extensionCount: number;
  overlayCount: number;
}

export interface ReleaseService {
  /** Tags with "v", ascending. The last good list while the registry is away. */
  versions(): Promise<string[]>;
  brokenVersions(): string[];
  /** All known releases with state, newest first, for pages. */
  summaries(): Promise<ReleaseSummary[]>;
  /**
   * Release for a version text with or without "v". invalid_input when it does not parse,
   * not_found "version <x.y.z> is not available" when it is not in the list.
   */
  require(version: string): Promise<Release>;
  /**
   * Asks the source what the tags of this version mean now; require() gives the answer from then on.
   * upstream_unavailable when the source cannot be asked; source_invalid when what it has cannot be used.
   */
  askAgain(version: string): Promise<void>;
  extensions(version: string): Promise<CatalogExtension[]>;
  /** Empty below 1.7.0 without asking whether the version exists. */
  overlays(version: string): Promise<CatalogOverlay[]>;
  status(): SourceStatus;
}

// ---- assets and builds

export interface AssetRequest {
  schematicId: string;
  /** As written in the URL, "v" optional. */
  version: string;
  /** Last path segment without sidecar suffix. */
  path: string;
}

/** A request that passed every check that needs no work. */
export interface ResolvedAsset {
  schematicId: string;
  /** With "v". */
  version: string;
  path: string;
  profile: AssetProfile;
  /** For those who run it: it may hold a machine configuration. What is shown is AssetService.describe(). */
  plan: BuildPlan;
  assetKey: string;
  /** The lock that names the inputs, where one does. */
  lockId?: string;
}

export interface ReadyAsset {
  assetKey: string;
  sizeBytes: number;
  sha256: string;
  sha512: string;
  storageKey: string;
  builtAt: Date;
  builtInMs: number;
}

export type { BuildError } from "../domain/build-record.ts";
export { BUILD_STATES, type BuildState } from "../domain/build-state.ts";
export type { HealthCheck, HealthService, SourceStatus } from "./status/contracts.ts";

export interface BuildView {
  id: string;
  assetKey: string;
  /** What was asked first; other schematics may share the asset. Cut short when `schematicHidden`. */
  schematicId: string;
  /** The schematic carries a machine configuration and the caller did not show to know its ID. */
  schematicHidden: boolean;
  version: string;
  path: string;
  /** The lock it was started from. Null without, and where the schematic is hidden, which the lock would name. */
  lockId: string | null;
  state: BuildState;
  phase: Phase | null;
  step: number;
  of: number;
  percent: number;
  note: string | null;
  error: BuildError | null;
  attempts: number;
  waiters: number;
  /** Only where one build is asked for, and only while it is not over. */
  forecast: BuildForecast | null;
  queuedAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  /** Set when ready. */
  asset: ReadyAsset | null;
  /** Milliseconds per finished step, in order. */
  timings: { title: string; phase: Phase; ms: number; cached: boolean }[];
}

/**
 * What `data` holds, by type:
 * state {state, attempt, note?} · phase {phase, step, of, title, cached} · progress {step, of, percent, overall, note?, ms?}
 * (ms is set when the step ended, percent is that of the step, overall that of the build) · log {line} · done {state, error, assetKey} which is always the last one.
 */
export interface BuildEvent {
  /** "<milliseconds>-<counter>", monotonic per build, usable as Last-Event-ID. */
  id: string;
  type: "state" | "phase" | "progress" | "done" | "log";
  data: Record<string, unknown>;
}

export interface AssetService {
  /**
   * Checked in this order, and the first that fails is told: schematic (404), version syntax (400), path grammar
   * (400), version existence (404), what release and schematic allow (400, 404 without its base installer).
   */
  resolve(request: AssetRequest): Promise<ResolvedAsset>;
  /** The plan as anybody who asks for the file may see it: secrets are replaced by their length. */
  describe(asset: ResolvedAsset): BuildPlan;
  /** The ready asset or null; never builds. */
  findReady(assetKey: string): Promise<ReadyAsset | null>;
  /** Builds or joins the running build and waits. Abort only leaves the queue of waiters. */
  ensure(asset: ResolvedAsset, options: { requestId: string; signal: AbortSignal }): Promise<ReadyAsset>;
  /**
   * Starts or joins and returns at once; such a build is not cancelled when nobody waits.
   * `again`: a failure of a moment ago that would come again is not told again, the work is tried.
   */
  start(asset: ResolvedAsset, options: { requestId: string; again?: boolean }): Promise<BuildView>;
  /** Small texts (cmdline) whose bytes need no worker: made in place; null for every other kind. */
  inline(asset: ResolvedAsset): Uint8Array | null;
  open(asset: ReadyAsset, range?: ByteRange, signal?: AbortSignal): Promise<Readable>;
  /** Bytes that files usually have, by "<version>/<file name>": the median of those that are there. Kept for a minute. */
  usualSizes(): Promise<Record<string, number>>;
  /** Forgets an asset that turned out to be worth nothing, so that the next request builds it again. */
  discard(asset: ReadyAsset): Promise<void>;
}

/** Files made from a lock instead of what the source's tags mean today. */
export interface LockBuildService {
  /** The file, and in what this factory differs from the one that made the lock. Errors as AssetService.resolve. */
  resolve(lock: ModelLock, path: string): Promise<{ asset: ResolvedAsset; differences: string[] }>;
  /** not_found naming every input of the plan that neither the store nor the source has. */
  requireInputs(lock: ModelLock, asset: ResolvedAsset, signal: AbortSignal): Promise<void>;
}

export interface BuildService {
  list(filter: {
    schematicId?: string;
    state?: BuildState;
    limit: number;
    before?: string;
  }): Promise<BuildView[]>;
  /** Running builds of these assets, whoever asked for them first. */
  findRunning(assetKeys: string[], knowing?: string): Promise<BuildView[]>;
  /** `knowing`: a schematic ID the caller has; see `schematicHidden`. */
  find(id: string, knowing?: string): Promise<BuildView | null>;
  /** conflict when it is already finished. */
  cancel(id: string, knowing?: string): Promise<BuildView>;
  /** Replays from lastEventId (or the start) and follows until the build ends or the signal aborts. */
  events(
    id: string,
    options: { lastEventId?: string; signal: AbortSignal; knowing?: string },
  ): AsyncIterable<BuildEvent>;
}

export interface PxeService {
  /** The iPXE script; errors as the asset route. `platarch` is the last path segment. */
  script(request: { schematicId: string; version: string; platarch: string }): Promise<string>;
}

// ---- keys

export interface KeyService {
  /** What SecureBoot images are signed with. not_found when SecureBoot is off. */
  signingCertificate(): { pem: string; der: Uint8Array };
}

// ---- talosctl

export interface TalosctlFile {
  name: string;
  sizeBytes: number;
  /** Lower-case hex. */
  sha256: string;
}

export interface TalosctlService {
  /** Files of a release, sorted by name; none for releases older than 1.11. Errors as ReleaseService.require. */
  list(version: string, signal?: AbortSignal): Promise<{ version: string; files: TalosctlFile[] }>;
  /** not_found for names outside the list. */
  require(version: string, name: string, signal?: AbortSignal): Promise<TalosctlFile>;
  open(file: TalosctlFile, range?: ByteRange, signal?: AbortSignal): Promise<Readable>;
}

export interface Services extends CatalogSide {
  schematics: SchematicService;
  releases: ReleaseService;
  assets: AssetService;
  builds: BuildService;
  pxe: PxeService;
  registry: RegistryService;
  talosctl: TalosctlService;
  keys: KeyService;
  signing: SigningService;
  checksums: ChecksumService;
  sboms: SbomService;
  locks: LockService;
  lockBuilds: LockBuildService;
  health: HealthService;
  status: StatusService;
  own: OwnSourceService;
  bootTests: BootTestService;
  presets: PresetService;
}
