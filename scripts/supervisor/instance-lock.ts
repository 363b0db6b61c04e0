/** One supervisor per DATA_DIR. */
import { link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { identify, isSame, type ProcessIdentity } from "./process-identity.ts";

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
 * its number belongs to another process by now, is taken over.
 */
export async function takeInstanceLock(dataDir: string): Promise<() => Promise<void>> {
  const folder = join(dataDir, "run");
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
      if (taken) return () => rm(lock, { force: true });
      const holder = await readIdentity(lock);
      if (holder && isSame(holder)) throw new AlreadyRunning(dataDir, holder.pid);
      await rename(lock, `${own}.stale`).catch(() => undefined);
      await rm(`${own}.stale`, { force: true });
    }
    throw new Error(`the lock ${lock} cannot be taken`);
  } finally {
    await rm(own, { force: true });
  }
}

/** The identity kept in a file; null when there is none or it is not readable as one. */
export async function readIdentity(path: string): Promise<ProcessIdentity | null> {
  try {
    const value: Partial<ProcessIdentity> = JSON.parse(await readFile(path, "utf8"));
    if (typeof value.pid !== "number") return null;
    return { pid: value.pid, startTicks: value.startTicks ?? null, bootId: value.bootId ?? null };
  } catch {
    return null;
  }
}
