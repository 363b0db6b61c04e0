/** From a row of the build table to the record the program works with; what JSON columns hold is checked here. */
import { z } from "zod";
import type { BuildRecord, ClaimedBuild } from "../domain/build-record.ts";
import { parseBuildState } from "../domain/build-state.ts";
import type { Build } from "./generated/client.ts";
import { fromExactJson } from "./json-text.ts";

const errorSchema = z.object({
  code: z.string(),
  message: z.string(),
  hint: z.string().exactOptional(),
  detail: z.record(z.string(), z.unknown()).exactOptional(),
  retryable: z.boolean().exactOptional(),
});

const timingsSchema = z.array(
  z.object({ title: z.string(), phase: z.string(), ms: z.number(), cached: z.boolean() }),
);

/** The columns that everybody but a claim reads. */
export type BuildRow = Omit<Build, "plan">;
export const WITHOUT_PLAN = { plan: true } as const;

/** The record of a row; throws when a JSON column holds something this version does not know. */
export function toBuildRecord(row: BuildRow): BuildRecord {
  return {
    ...row,
    state: parseBuildState(row.state),
    error: row.error === null ? null : errorSchema.parse(row.error),
    timings: timingsSchema.parse(row.timings),
  };
}

/** The record of a row that a worker has just taken, with its plan. */
export function toClaimedBuild({ plan, ...row }: Build): ClaimedBuild {
  return { ...toBuildRecord(row), plan: fromExactJson(plan) };
}
