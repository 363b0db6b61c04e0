/** One supervisor per DATA_DIR. */
import { link, mkdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { inDataDir } from "../../lib/config/data-folders.ts";
import { identify, locate, type ProcessIdentity } from "./process-identity.ts";

/** The holder touches its lock this often, for those who cannot see its process. */
const TOUCH_MS = 2_000;
/** A lock from elsewhere that nobody touched for so long is left over. */
const WATCH_MS = 8_000;

export interface InstanceLockOptions {
  /** Told before the holder elsewhere is watched, which takes some seconds. */
  onWatch?: () => void;
  touchMs?: number;
  watchMs?: number;
}

/** Thrown when another instance holds the folder. */
export class AlreadyRunning extends Error {
  constructor(
    readonly dataDir: string,
    readonly pid: number,
  ) {
    super(
      `another instance (process ${pid}) already uses ${dataDir}; stop it, or set DATA_DIR to another folder`,
    );
  }
}

/**
 * Takes the lock of the folder and gives the function that releases it. A lock left by a process that is gone, also when
 * its number belongs to another process by now, is taken over. A holder in another container or on another machine
 * cannot be seen, only that it touches the lock; clocks need not agree for that.
 */
export async function takeInstanceLock(
  dataDir: string,
  options: InstanceLockOptions = {},
): Promise<() => Promise<void>> {
  const folder = inDataDir(dataDir, "run");
  await mkdir(folder, { recursive: true });
  const lock = join(folder, "supervisor.json");
  const own = `${lock}.${process.pid}`;
  await writeFile(own, JSON.stringify(identify(process.pid)));
  try {
    for (let attempt = 0; attempt < 20; attempt++) {
      // link(2) fails when the name is taken: the file appears with its content, for one of us only.
      const taken = await link(own, lock).then(
        () => true,
        () => false,
      );
      if (taken) return hold(lock, options.touchMs ?? TOUCH_MS);
      const holder = await readIdentity(lock);
      if (holder && (await isHeld(lock, holder, options))) throw new AlreadyRunning(dataDir, holder.pid);
      await rename(lock, `${own}.stale`).catch(() => undefined);
      await rm(`${own}.stale`, { force: true });
    }
    throw new Error(`the lock ${lock} cannot be taken`);
  } finally {
    await rm(own, { force: true });
  }
}

function hold(lock: string, touchMs: number): () => Promise<void> {
  const touch = () => utimes(lock, new Date(), new Date()).catch(() => undefined);
  const timer = setInterval(() => void touch(), touchMs);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await rm(lock, { force: true });
  };
}

async function isHeld(
  lock: string,
  holder: ProcessIdentity,
  { onWatch, watchMs = WATCH_MS }: InstanceLockOptions,
): Promise<boolean> {
  const where = locate(holder);
  if (where !== "elsewhere") return where === "alive";
  onWatch?.();
  const touched = async () => (await stat(lock).catch(() => null))?.mtimeMs;
  const before = await touched();
  await sleep(watchMs);
  const after = await touched();
  return after !== undefined && after !== before;
}

/** The identity kept in a file; null when there is none or it is not readable as one. */
export async function readIdentity(path: string): Promise<ProcessIdentity | null> {
  try {
    const value: Partial<ProcessIdentity> = JSON.parse(await readFile(path, "utf8"));
    if (typeof value.pid !== "number") return null;
    const { pid, startTicks = null, bootId = null, namespace = null } = value;
    return { pid, startTicks, bootId, namespace };
  } catch {
    return null;
  }
}
