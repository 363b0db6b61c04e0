/** Tells one process from a later one that got the same number. */
import { readFileSync, readlinkSync } from "node:fs";

export interface ProcessIdentity {
  pid: number;
  /** Clock ticks from boot to its start (proc(5), stat field 22); null where there is no /proc. */
  startTicks: string | null;
  bootId: string | null;
  /** The process id space it lives in (pid_namespaces(7)): containers on one folder each have their own. */
  namespace: string | null;
}

/** elsewhere: on another machine, in another container or before a restart of either; its number says nothing here. */
export type Whereabouts = "alive" | "gone" | "elsewhere";

/** Identity of a living process; null when there is none (a zombie counts as none). */
export function identify(pid: number): ProcessIdentity | null {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === null)
    return read("/proc/self/stat") === null && answersSignal(pid)
      ? { pid, startTicks: null, bootId: null, namespace: null }
      : null;
  // The name in parentheses may hold anything; fields are counted after its end.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (fields[0] === "Z" || fields[0] === "X") return null;
  return {
    pid,
    startTicks: fields[19] ?? null,
    ...here(),
  };
}

/** What became of exactly this process. */
export function locate(identity: ProcessIdentity): Whereabouts {
  const { bootId, namespace } = here();
  if (identity.bootId !== bootId || identity.namespace !== namespace) return "elsewhere";
  const now = identify(identity.pid);
  return now !== null && now.startTicks === identity.startTicks ? "alive" : "gone";
}

/** True when exactly this process still runs, on this machine and in this container. */
export const isSame = (identity: ProcessIdentity): boolean => locate(identity) === "alive";

function here(): Pick<ProcessIdentity, "bootId" | "namespace"> {
  return {
    bootId: read("/proc/sys/kernel/random/boot_id")?.trim() ?? null,
    namespace: linkTarget("/proc/self/ns/pid"),
  };
}

function answersSignal(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function read(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

function linkTarget(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
