/** The name of a worker process, and whether another worker of this machine is still alive. */
import { createHash, randomBytes } from "node:crypto";
import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";

export interface WorkerIdentity {
  /** "<host>/<scope>/<pid>/<nonce>", what stands in a build's row. */
  name: string;
  /** True when that worker ran on this machine since its last start, and its process is gone. */
  isDead(worker: string): boolean;
}

/**
 * The scope names one process id space (host, boot, pid namespace): only within it does a process id say anything.
 * Workers of other scopes are judged by their heartbeat alone.
 */
export async function createWorkerIdentity(): Promise<WorkerIdentity> {
  const parts = [
    hostname(),
    await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => ""),
    await readlink("/proc/self/ns/pid").catch(() => ""),
  ];
  const scope = createHash("sha256").update(parts.join("\n")).digest("hex").slice(0, 12);
  const nonce = randomBytes(4).toString("hex");
  const name = [hostname(), scope, process.pid, nonce].join("/");
  return {
    name,
    isDead(worker) {
      const [, itsScope, pidText] = worker.split("/");
      const pid = Number(pidText);
      if (itsScope !== scope || !Number.isInteger(pid) || pid <= 0) return false;
      // Our own number with another nonce is a worker whose number we were given after it.
      return pid === process.pid ? worker !== name : !isAlive(pid);
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
