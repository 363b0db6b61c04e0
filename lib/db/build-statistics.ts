/** Numbers over the table of builds: what waits, how long files usually take, how the last day went. */
import { BUILD_STATES, type BuildState } from "../domain/build-state.ts";
import type { Database } from "./client.ts";

/** So many of the last good builds of a file decide its usual time. */
const MEDIAN_OVER = 50;
const MOST_AHEAD = 1_000;

export interface BuildStatistics {
  /** Names of the files whose builds wait before this one, the next to be taken first. */
  ahead(buildId: string): Promise<string[]>;
  /** Median milliseconds from claim to end over the last good builds, by name of the file; unknown names are left out. */
  usualMs(paths: string[]): Promise<Map<string, number>>;
  /** Builds by state: those under way now, those that ended within the last `hours`. */
  counts(hours: number): Promise<Record<BuildState, number>>;
  /** Steps of the builds that ended within the last `hours`, and how many of them were not run because their part was there. */
  steps(hours: number): Promise<{ all: number; cached: number }>;
}

/** The statistics over one client. */
export function createBuildStatistics(db: Database): BuildStatistics {
  return {
    async ahead(buildId) {
      const rows = await db.build.findMany({
        where: { state: "queued", id: { lt: buildId } },
        orderBy: { id: "asc" },
        take: MOST_AHEAD,
        select: { path: true },
      });
      return rows.map((row) => row.path);
    },
    async usualMs(paths) {
      if (paths.length === 0) return new Map();
      const rows = await db.$queryRaw<{ path: string; ms: number | null }[]>`
        SELECT asked.path, usual.ms FROM (SELECT DISTINCT unnest(${paths}::text[]) AS path) AS asked
        CROSS JOIN LATERAL (
          SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY took)::float8 AS ms FROM (
            SELECT extract(epoch FROM finished_at - started_at) * 1000 AS took FROM build
            WHERE build.path = asked.path AND state = 'ready' AND started_at IS NOT NULL
            ORDER BY id DESC LIMIT ${MEDIAN_OVER}::int) AS recent) AS usual`;
      return new Map(rows.flatMap(({ path, ms }) => (ms === null ? [] : [[path, ms] as const])));
    },
    async counts(hours) {
      const rows = await db.$queryRaw<{ state: string; count: number }[]>`
        SELECT state, count(*)::int AS count FROM build
        WHERE finished_at IS NULL OR finished_at > now() - ${hours}::int * interval '1 hour'
        GROUP BY state`;
      const found = new Map(rows.map(({ state, count }) => [state, count]));
      const [queued, building, uploading, ready, failed, cancelled] = BUILD_STATES.map(
        (state) => found.get(state) ?? 0,
      );
      return {
        ...{ queued: queued ?? 0, building: building ?? 0, uploading: uploading ?? 0 },
        ...{ ready: ready ?? 0, failed: failed ?? 0, cancelled: cancelled ?? 0 },
      };
    },
    async steps(hours) {
      const [row] = await db.$queryRaw<{ all: number; cached: number }[]>`
        SELECT count(*)::int AS all, count(*) FILTER (WHERE (timing ->> 'cached')::boolean)::int AS cached
        FROM build CROSS JOIN LATERAL jsonb_array_elements(timings) AS steps (timing)
        WHERE finished_at > now() - ${hours}::int * interval '1 hour'`;
      return row ?? { all: 0, cached: 0 };
    },
  };
}
