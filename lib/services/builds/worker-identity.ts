/** The name of a worker process, and whether another worker of this machine is still alive. */
import { createHash, randomBytes } from "node:crypto";
import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";
import { systemCode } from "../../errors/system-code.ts";

export interface WorkerIdentity {
  /** "<host>/<scope>/<pid>/<nonce>", what stands in a build's row. */
  name: string;
  /** True when that worker ran on this machine since its last start, and its process is gone. */
  isDead(worker: string): boolean;
}

/** Workers that this very process runs; tests run several. */
const own = new Set<string>();

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
  own.add(name);
  return {
    name,
    isDead(worker) {
      const [, itsScope, pidText] = worker.split("/");
      const pid = Number(pidText);
      if (itsScope !== scope || !Number.isInteger(pid) || pid <= 0) return false;
      // Our own number with a nonce of somebody else's: that worker ended and we were given its number.
      return pid === process.pid ? !own.has(worker) : !isAlive(pid);
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === "EPERM";
  }
}
