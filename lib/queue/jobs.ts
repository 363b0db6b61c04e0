/** The jobs: producers and workers both import this and nothing else about them. Payloads are ids, rows hold the rest. */
import { z } from "zod";

export interface JobDefinition<T> {
  /** Reads a payload written by this or another version of the program; throws on anything else. */
  data: z.ZodType<T>;
  /** One job per name: adding it again changes nothing. BullMQ forbids ":" and pure digits. */
  jobId: (data: T) => string;
  /** How many a worker runs at once; as many as it has slots for builds unless given. */
  concurrency?: number;
}

const assetBuild = z.object({
  v: z.literal(1),
  buildId: z.uuid(),
  /** Attempts made before this one; part of the job's name, so that a retry is a new job. */
  attempt: z.int().nonnegative(),
  requestId: z.string(),
});

const bootTest = z.object({ v: z.literal(1), testId: z.uuid(), requestId: z.string() });

interface Payloads {
  "asset.build": z.infer<typeof assetBuild>;
  "extension.boot-test": z.infer<typeof bootTest>;
}

export type JobName = keyof Payloads;
export type JobData<K extends JobName> = Payloads[K];

/** The job of a build as its row is now; the name of a retry's job follows from the attempts made. */
export const jobOf = (build: {
  id: string;
  attempts: number;
  requestId: string;
}): JobData<"asset.build"> => ({
  v: 1,
  buildId: build.id,
  attempt: build.attempts,
  requestId: build.requestId,
});

/** Changing a payload means a new `v`, with the old one accepted for one release. */
export const jobs: { [K in JobName]: JobDefinition<Payloads[K]> } = {
  "asset.build": {
    data: assetBuild,
    jobId: (data) => `build-${data.buildId}-${data.attempt}`,
  },
  "extension.boot-test": { data: bootTest, jobId: (data) => `boot-test-${data.testId}`, concurrency: 1 },
};

/** All keys and channels of one installation start with it, so that several can share a Redis. */
export const DEFAULT_PREFIX = "casthouse";
