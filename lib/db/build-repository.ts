/** The table of builds. Every change of state is one guarded UPDATE, so two processes can never both win. */
import {
  type AssetRecord,
  type BuildClaim,
  type BuildError,
  type BuildRecord,
  type BuildTiming,
  type ClaimedBuild,
  isBuildId,
} from "../domain/build-record.ts";
import { type BuildMove, type BuildState, buildMove, RUNNING_STATES } from "../domain/build-state.ts";
import { toBuildRecord, toClaimedBuild, WITHOUT_PLAN } from "./build-row.ts";
import type { Database } from "./client.ts";
import { type Build, Prisma } from "./generated/client.ts";
import { toExactJsonText, toJsonText } from "./json-text.ts";

export interface NewBuild {
  id: string;
  assetKey: string;
  schematicId: string;
  version: string;
  path: string;
  lockId?: string | null;
  plan: unknown;
  steps: number;
  detached: boolean;
  requestId: string;
}

export interface BuildProgressRow {
  phase: string | null;
  step: number;
  /** Zero leaves the number as it is. */
  steps: number;
  percent: number;
  note: string | null;
  timings: BuildTiming[];
}

export interface MoveGuard {
  /** Only while this worker still owns the build. */
  claim?: BuildClaim;
  /** Only while the last heartbeat is at least this old, by the clock of the database. */
  staleMs?: number;
  /** Only while it is not meant to go on without waiters. */
  attached?: boolean;
}

export interface MovePatch {
  /** The try that ends with this move failed. */
  failed?: boolean;
  error?: BuildError;
  note?: string | null;
}

export interface BuildFilter {
  schematicId?: string;
  state?: BuildState;
  limit: number;
  /** Only builds older than this id. */
  before?: string;
}

export interface BuildRepository {
  /** Null when the asset has a running build already. */
  insert(build: NewBuild): Promise<BuildRecord | null>;
  /** A row for a file that is there although the row of its build is not. */
  insertReady(build: Omit<NewBuild, "plan">): Promise<BuildRecord>;
  find(id: string): Promise<BuildRecord | null>;
  findRunning(assetKey: string): Promise<BuildRecord | null>;
  /** Running builds of these assets; at most one each. */
  findAllRunning(assetKeys: string[]): Promise<BuildRecord[]>;
  /** The newest build of an asset that came to its end. */
  findLastFinished(assetKey: string): Promise<BuildRecord | null>;
  /** The newest build of an asset that became ready. */
  findLastReady(assetKey: string): Promise<BuildRecord | null>;
  /** True when any file of this version ("v1.2.3") was ever made. */
  hasReady(version: string): Promise<boolean>;
  list(filter: BuildFilter): Promise<BuildRecord[]>;
  /** All that wait for a worker, oldest first. */
  queued(limit: number): Promise<BuildRecord[]>;
  countQueued(): Promise<number>;
  /** Ids of builds that a worker took and has not reported on for so long. */
  stale(staleMs: number): Promise<string[]>;
  /** Builds that some worker has now. */
  active(): Promise<BuildRecord[]>;
  setDetached(id: string): Promise<void>;
  /** Takes a queued build for its next attempt; null when somebody else did or it is not queued any more. */
  claim(id: string, worker: string): Promise<ClaimedBuild | null>;
  /** Says "still alive" and where the work is; null when the claim is lost. */
  heartbeat(claim: BuildClaim, progress: BuildProgressRow): Promise<{ detached: boolean } | null>;
  /** One move of the state table; false when state or guard did not allow it. */
  move(id: string, move: BuildMove, guard: MoveGuard, patch?: MovePatch): Promise<boolean>;
  /** The end of a good build: state ready and the asset row, both or none. */
  succeed(
    claim: BuildClaim,
    asset: Omit<AssetRecord, "createdAt">,
    progress: BuildProgressRow,
  ): Promise<boolean>;
}

/** The repository over one client. */
export function createBuildRepository(db: Database): BuildRepository {
  return { ...finds(db), ...lists(db), ...writes(db) };
}

type Finds = "find" | "findRunning" | "findAllRunning" | "findLastFinished" | "findLastReady" | "hasReady";
type Lists = "list" | "queued" | "countQueued" | "stale" | "active";

const omit = WITHOUT_PLAN;

/** Builds by their ID, file or version. */
function finds(db: Database): Pick<BuildRepository, Finds> {
  const running = [...RUNNING_STATES];
  return {
    async find(id) {
      if (!isBuildId(id)) return null;
      const row = await db.build.findUnique({ where: { id }, omit });
      return row === null ? null : toBuildRecord(row);
    },
    async findRunning(assetKey) {
      const row = await db.build.findFirst({ where: { assetKey, state: { in: running } }, omit });
      return row === null ? null : toBuildRecord(row);
    },
    async findAllRunning(assetKeys) {
      if (assetKeys.length === 0) return [];
      const where = { assetKey: { in: assetKeys }, state: { in: running } };
      return (await db.build.findMany({ where, omit })).map(toBuildRecord);
    },
    async findLastFinished(assetKey) {
      const where = { assetKey, state: { notIn: running } };
      const row = await db.build.findFirst({ where, orderBy: { id: "desc" }, omit });
      return row === null ? null : toBuildRecord(row);
    },
    async findLastReady(assetKey) {
      const row = await db.build.findFirst({
        where: { assetKey, state: "ready" },
        orderBy: { id: "desc" },
        omit,
      });
      return row === null ? null : toBuildRecord(row);
    },
    async hasReady(version) {
      const where = { version, state: "ready" };
      return (await db.build.findFirst({ where, select: { id: true } })) !== null;
    },
  };
}

/** Builds by where they stand. */
function lists(db: Database): Pick<BuildRepository, Lists> {
  return {
    async list(filter) {
      if (filter.before !== undefined && !isBuildId(filter.before)) return [];
      const where: Prisma.BuildWhereInput = {};
      if (filter.schematicId !== undefined) where.schematicId = filter.schematicId;
      if (filter.state !== undefined) where.state = filter.state;
      if (filter.before !== undefined) where.id = { lt: filter.before };
      const rows = await db.build.findMany({ where, orderBy: { id: "desc" }, take: filter.limit, omit });
      return rows.map(toBuildRecord);
    },
    async queued(limit) {
      const rows = await db.build.findMany({
        where: { state: "queued" },
        orderBy: { id: "asc" },
        take: limit,
        omit,
      });
      return rows.map(toBuildRecord);
    },
    countQueued: () => db.build.count({ where: { state: "queued" } }),
    async stale(staleMs) {
      const ids = await db.$queryRaw<{ id: string }[]>`
        SELECT id FROM build
        WHERE state IN ('building', 'uploading') AND heartbeat_at < now() - ${staleMs}::int * interval '1 millisecond'`;
      return ids.map((row) => row.id);
    },
    async active() {
      const rows = await db.build.findMany({ where: { state: { in: ["building", "uploading"] } }, omit });
      return rows.map(toBuildRecord);
    },
  };
}

function writes(db: Database): Omit<BuildRepository, Finds | Lists> {
  return {
    async insert(build) {
      const plan: Prisma.InputJsonValue = JSON.parse(toExactJsonText(build.plan));
      const data = [{ ...build, plan, state: "queued" }];
      const [row] = await db.build.createManyAndReturn({ data, skipDuplicates: true, omit });
      return row === undefined ? null : toBuildRecord(row);
    },
    async insertReady(build) {
      const data = { ...build, state: "ready", percent: 100, finishedAt: new Date() };
      return toBuildRecord(await db.build.create({ data, omit }));
    },
    async setDetached(id) {
      await db.build.updateMany({ where: { id, detached: false }, data: { detached: true } });
    },
    async claim(id, worker) {
      const { to } = buildMove("claim");
      const [row] = await db.$queryRaw<Build[]>`
        UPDATE build SET state = ${to}, worker = ${worker}, attempts = attempts + 1, heartbeat_at = now(),
          started_at = coalesce(started_at, now()), phase = NULL, step = 0, percent = 0, note = NULL,
          error = NULL, timings = '[]'
        WHERE id = ${id}::uuid AND ${allows("claim")}
        RETURNING ${ALL_COLUMNS}`;
      return row === undefined ? null : toClaimedBuild(row);
    },
    async heartbeat(claim, progress) {
      const [row] = await db.$queryRaw<{ detached: boolean }[]>`
        UPDATE build SET heartbeat_at = now(), ${progressColumns(progress)}
        WHERE ${owned(claim)} AND state IN ('building', 'uploading') RETURNING detached`;
      return row ?? null;
    },
    move: (id, move, guard, patch = {}) => moveRow(db, id, move, guard, patch),
    succeed: (claim, asset, progress) => succeedRow(db, claim, asset, progress),
  };
}

type Executor = Pick<Database, "$executeRaw">;

async function moveRow(
  db: Executor,
  id: string,
  move: BuildMove,
  guard: MoveGuard,
  patch: MovePatch,
): Promise<boolean> {
  if (!isBuildId(id)) return false;
  const { to } = buildMove(move);
  const error = patch.error === undefined ? null : toJsonText(patch.error);
  const finished = !RUNNING_STATES.includes(to);
  const count = await db.$executeRaw`
    UPDATE build SET state = ${to}, failures = failures + ${patch.failed === true ? 1 : 0}::int, error = coalesce(${error}::jsonb, error), note = ${patch.note ?? null},
      finished_at = CASE WHEN ${finished} THEN now() END, plan = CASE WHEN ${finished} THEN NULL ELSE plan END,
      heartbeat_at = CASE WHEN ${to === "queued"} THEN NULL ELSE heartbeat_at END
    WHERE id = ${id}::uuid AND ${allows(move)} AND ${guarded(guard)}`;
  return count === 1;
}

async function succeedRow(
  db: Database,
  claim: BuildClaim,
  asset: Omit<AssetRecord, "createdAt">,
  progress: BuildProgressRow,
): Promise<boolean> {
  const row = { ...asset, sizeBytes: BigInt(asset.sizeBytes), inputs: JSON.parse(toJsonText(asset.inputs)) };
  const { key: _key, ...changed } = row;
  return db.$transaction(async (tx) => {
    await tx.$executeRaw`UPDATE build SET ${progressColumns(progress)} WHERE ${owned(claim)}`;
    if (!(await moveRow(tx, claim.id, "succeed", { claim }, {}))) return false;
    await tx.asset.upsert({
      where: { key: asset.key },
      create: row,
      update: { ...changed, createdAt: new Date() },
    });
    return true;
  });
}

/** Every column under the name that Prisma gives it. */
const ALL_COLUMNS = Prisma.sql`id, asset_key AS "assetKey", schematic_id AS "schematicId", version, path,
  lock_id AS "lockId", plan, state,
  phase, step, steps, percent, note, error, timings, attempts, failures, detached, request_id AS "requestId", worker,
  heartbeat_at AS "heartbeatAt", queued_at AS "queuedAt", started_at AS "startedAt", finished_at AS "finishedAt"`;

const allows = (move: BuildMove) => Prisma.sql`state IN (${Prisma.join(buildMove(move).from)})`;

const owned = (claim: BuildClaim) =>
  Prisma.sql`id = ${claim.id}::uuid AND worker = ${claim.worker} AND attempts = ${claim.attempt}`;

function guarded(guard: MoveGuard): Prisma.Sql {
  const conditions = [Prisma.sql`true`];
  if (guard.claim !== undefined) conditions.push(owned(guard.claim));
  if (guard.attached === true) conditions.push(Prisma.sql`NOT detached`);
  if (guard.staleMs !== undefined) {
    conditions.push(Prisma.sql`heartbeat_at < now() - ${guard.staleMs}::int * interval '1 millisecond'`);
  }
  return Prisma.join(conditions, " AND ");
}

function progressColumns(progress: BuildProgressRow): Prisma.Sql {
  return Prisma.sql`phase = ${progress.phase}, step = ${progress.step},
    steps = CASE WHEN ${progress.steps}::int > 0 THEN ${progress.steps}::int ELSE steps END, percent = ${progress.percent}::float8,
    note = ${progress.note}, timings = ${toJsonText(progress.timings)}::jsonb`;
}
