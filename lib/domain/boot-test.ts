/** Boot tests of own extensions: what the console of the machine proves, and when a test was left behind. */
import { coversVersion, type OwnPin } from "./own-sources.ts";
import { isPrerelease } from "./versions.ts";

export const BOOT_TEST_STATES = ["queued", "running", "passed", "failed"] as const;
export type BootTestState = (typeof BOOT_TEST_STATES)[number];

export interface BootTest {
  id: string;
  pinId: string;
  /** What was tested. */
  digest: string;
  /** Talos version, with "v". */
  version: string;
  /** Null until the schematic was made. */
  schematicId: string | null;
  state: BootTestState;
  /** Why it failed, or what a pass does not say; null when there is nothing to add. */
  reason: string | null;
  /** The last 64 KiB of the console. */
  log: string;
  /** From the start of the machine to its end; null when none was started. */
  ms: number | null;
  createdAt: Date;
  /** When a worker last said that it is at it. */
  seenAt: Date;
  finishedAt: Date | null;
}

/** What a pass on a system says that nothing can be asked of. */
export const MAINTENANCE_ONLY = "booted; what is inside cannot be asked without a machine configuration";

export interface Verdict {
  state: "passed" | "failed";
  reason: string | null;
}

/** What the manifest of the tested extension says. */
export interface TestedExtension {
  name: string;
  version: string;
}

const SAMPLE = "casthouse-sample: ";
const PANIC = /Kernel panic - not syncing[^\r\n]*/;
/** A machine without configuration that is up says one of these. */
const WAITING = /maintenance (?:service|mode)|this machine is reachable at/i;

/** Reads the console line by line; null until the lines prove something. */
export function createBootJudge(tested: TestedExtension): (line: string) => Verdict | null {
  const seen: string[] = [];
  return (line) => {
    const panic = PANIC.exec(line);
    if (panic) return { state: "failed", reason: panic[0].slice(0, 300) };
    const at = line.indexOf(SAMPLE);
    if (at < 0) return WAITING.test(line) ? { state: "passed", reason: MAINTENANCE_ONLY } : null;
    const [word, , name, version] = line
      .slice(at + SAMPLE.length)
      .trimEnd()
      .split(" ");
    if (word === "extension") seen.push(`${name} ${version}`);
    if (word !== "boot") return null;
    return judgeEnd(line.slice(at + SAMPLE.length).trimEnd(), tested, seen);
  };
}

function judgeEnd(fact: string, { name, version }: TestedExtension, seen: readonly string[]): Verdict | null {
  if (fact.startsWith("boot failed: ")) return { state: "failed", reason: fact.slice(0, 300) };
  if (fact !== "boot ok") return null;
  if (seen.includes(`${name} ${version}`)) return { state: "passed", reason: null };
  const others = seen.length === 0 ? "no extension" : seen.join(", ").slice(0, 300);
  return { state: "failed", reason: `The machine came up and sees ${others}, not ${name} ${version}` };
}

const QUEUED_MS = 60 * 60_000;
const RUNNING_MS = 10 * 60_000;

/** Why a test that is open will not end any more; null when it may. */
export function staleReason(test: Pick<BootTest, "state" | "seenAt">, nowMs: number): string | null {
  const silentMs = nowMs - test.seenAt.getTime();
  if (test.state === "queued" && silentMs > QUEUED_MS) return "No worker took the test within an hour";
  if (test.state === "running" && silentMs > RUNNING_MS)
    return "The worker that ran the test has not been heard of for ten minutes";
  return null;
}

/** The newest release that a pin is for, stable ones before others; null when none of the versions is. */
export function newestCovered(
  pin: Pick<OwnPin, "talos" | "constraint">,
  ascending: readonly string[],
): string | null {
  const covered = ascending.filter(
    (version) => coversVersion(pin.talos, version) && coversVersion(pin.constraint, version),
  );
  return covered.findLast((version) => !isPrerelease(version)) ?? covered.at(-1) ?? null;
}
