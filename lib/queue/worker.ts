/** Takes jobs out of the queue; parses, logs and measures, so that handlers hold nothing but their work. */
import { type ConnectionOptions, type Job, Worker } from "bullmq";
import type { Logger } from "pino";
import { type JobData, type JobName, jobs } from "./jobs.ts";

export type Handler<K extends JobName> = (data: JobData<K>, context: { log: Logger }) => Promise<void>;
export type Handlers = { [K in JobName]: Handler<K> };

export interface WorkersOptions {
  connection: ConnectionOptions;
  prefix: string;
  concurrency: number;
  log: Logger;
  handlers: Handlers;
}

export interface Workers {
  /** Stops taking jobs; running ones go on. */
  pause(): Promise<void>;
  /** Waits for running jobs and ends the connections. */
  close(): Promise<void>;
}

/** One BullMQ worker per job of the catalog, each with the given concurrency unless the catalog says another. */
export function startWorkers(options: WorkersOptions): Workers {
  const workers = jobNames().map((name) => start(name, options));
  return {
    async pause() {
      await Promise.all(workers.map((worker) => worker.pause(true)));
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.close()));
    },
  };
}

function start<K extends JobName>(name: K, options: WorkersOptions): Worker {
  const handler: Handler<K> = options.handlers[name];
  const worker = new Worker(name, (job) => run(name, job, handler, options.log), {
    connection: options.connection,
    prefix: options.prefix,
    concurrency: jobs[name].concurrency ?? options.concurrency,
    // A job whose worker died is dropped: its row has a heartbeat, and the reconciler decides what comes next.
    maxStalledCount: 0,
  });
  worker.on("error", (error) => options.log.warn({ err: error, job: name }, "queue connection trouble"));
  return worker;
}

async function run<K extends JobName>(name: K, job: Job, handler: Handler<K>, parent: Logger): Promise<void> {
  const data = jobs[name].data.parse(job.data);
  const log = parent.child({ job: name, jobId: job.id, requestId: data.requestId });
  const started = Date.now();
  try {
    await handler(data, { log });
    log.info({ waitedMs: started - job.timestamp, tookMs: Date.now() - started }, "job ended");
  } catch (error) {
    log.error({ err: error, tookMs: Date.now() - started }, "job handler failed");
    throw error;
  }
}

function jobNames(): JobName[] {
  const names: JobName[] = [];
  for (const name in jobs) if (isJobName(name)) names.push(name);
  return names;
}

const isJobName = (name: string): name is JobName => name in jobs;
