/** Tells one process from a later one that got the same number. */
import { readFileSync } from "node:fs";

export interface ProcessIdentity {
  pid: number;
  /** Clock ticks from boot to its start (proc(5), stat field 22); null where there is no /proc. */
  startTicks: string | null;
  bootId: string | null;
}

/** Identity of a living process; null when there is none (a zombie counts as none). */
export function identify(pid: number): ProcessIdentity | null {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === null)
    return read("/proc/self/stat") === null && answersSignal(pid)
      ? { pid, startTicks: null, bootId: null }
      : null;
  // The name in parentheses may hold anything; fields are counted after its end.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (fields[0] === "Z" || fields[0] === "X") return null;
  return {
    pid,
    startTicks: fields[19] ?? null,
    bootId: read("/proc/sys/kernel/random/boot_id")?.trim() ?? null,
  };
}

/** True when exactly this process still runs. */
export function isSame(identity: ProcessIdentity): boolean {
  const now = identify(identity.pid);
  return now !== null && now.startTicks === identity.startTicks && now.bootId === identity.bootId;
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
