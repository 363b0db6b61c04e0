/** Puts jobs into the queue. */
import { type ConnectionOptions, Queue } from "bullmq";
import { type JobData, type JobName, jobs } from "./jobs.ts";

export interface Producer {
  /** Adds a job; nothing happens when it is there already. Rejects when Redis is away. */
  enqueue<K extends JobName>(name: K, data: JobData<K>, options?: { delayMs?: number }): Promise<void>;
  /** Removes a job that no worker has taken yet. */
  withdraw<K extends JobName>(name: K, data: JobData<K>): Promise<void>;
  close(): Promise<void>;
}

export interface ProducerOptions {
  connection: ConnectionOptions;
  prefix: string;
  onError: (error: Error) => void;
}

/** A producer for every job of the catalog. */
export function createProducer(options: ProducerOptions): Producer {
  const queues = new Map<JobName, Queue>();
  const queue = (name: JobName): Queue => {
    const known = queues.get(name);
    if (known !== undefined) return known;
    const made = new Queue(name, {
      connection: options.connection,
      prefix: options.prefix,
      skipMetasUpdate: true,
    });
    made.on("error", options.onError);
    queues.set(name, made);
    return made;
  };
  return {
    async enqueue(name, data, { delayMs = 0 } = {}) {
      const payload = jobs[name].data.parse(data);
      const jobId = jobs[name].jobId(payload);
      await queue(name).add(name, payload, { jobId, delay: delayMs, attempts: 1, ...FORGET });
    },
    async withdraw(name, data) {
      await queue(name).remove(jobs[name].jobId(data));
    },
    async close() {
      await Promise.all([...queues.values()].map((item) => item.close()));
    },
  };
}

/** The rows are the history; a finished job must not keep its name, or the same attempt could not be queued again. */
const FORGET = { removeOnComplete: true, removeOnFail: true };
