/** What processes used, from /proc: processor seconds of one with all it waited for, peak memory of several. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** proc(5): times are in clock ticks, 100 per second on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;
const SAMPLE_MS = 20;

/** Processor seconds, user and system, of a process itself and of its children that have ended. */
export function cpuSeconds(pid: number): { own: number; children: number } {
  const fields = statFields(pid);
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15).map(Number);
  return {
    own: (user + system) / TICKS_PER_SECOND,
    children: (childUser + childSystem) / TICKS_PER_SECOND,
  };
}

/** Fields of /proc/<pid>/stat behind the name, which may hold anything. */
function statFields(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** Resolves when the process has used no processor time to speak of for a while: what it does in the background is done. */
export async function untilIdle(pid: number, quietMs = 300): Promise<void> {
  const steps = 5;
  for (let quiet = 0, last = cpuSeconds(pid).own; quiet < steps; ) {
    await sleep(quietMs / steps);
    const now = cpuSeconds(pid).own;
    quiet = now - last < 0.015 && childrenOf(pid).length === 0 ? quiet + 1 : 0;
    last = now;
  }
}

/** Makes the peak of a process count from now. */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

/** Most memory the process held at once, MB. */
export const peakMegabytes = (pid: number): number => statusMegabytes(pid, "VmHWM") ?? 0;

function statusMegabytes(pid: number, field: string): number | null {
  try {
    const match = new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(
      readFileSync(`/proc/${pid}/status`, "utf8"),
    );
    return match ? (Number(match[1]) * 1024) / 1e6 : null;
  } catch {
    return null;
  }
}

function childrenOf(pid: number): number[] {
  const children: number[] = [];
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const text = readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").trim();
      if (text !== "") children.push(...text.split(" ").map(Number));
    }
  } catch {
    // The process or one of its threads ended while we looked.
  }
  return children;
}

export interface ToolWatch {
  /** Ends the watch and gives the most that all programs of the process held together, MB. */
  stop(): number;
}

/** Watches the programs that a process starts. Peaks shorter than 20 ms may be missed. */
export function watchTools(pid: number): ToolWatch {
  let most = 0;
  const look = () => {
    const sum = descendantsOf(pid).reduce(
      (total, child) => total + (statusMegabytes(child, "VmRSS") ?? 0),
      0,
    );
    most = Math.max(most, sum);
  };
  const timer = setInterval(look, SAMPLE_MS);
  return {
    stop() {
      clearInterval(timer);
      return most;
    },
  };
}

const descendantsOf = (pid: number): number[] =>
  childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
