/** What a supervisor that was killed left behind: processes of ours, and Postgres' own lock file. */
import { readdir, readFile, readlink, realpath, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { inDataDir } from "../../lib/config/data-folders.ts";
import { waitForEnd } from "../embedded/server-process.ts";
import { readIdentity } from "./instance-lock.ts";
import { isSame } from "./process-identity.ts";

/** Ends every recorded process that still is the one recorded; gives their names. Other processes are left alone. */
export async function endLeftovers(dataDir: string): Promise<string[]> {
  const folder = inDataDir(dataDir, "run");
  const ended: string[] = [];
  for (const file of await readdir(folder).catch(() => [])) {
    const name = basename(file, ".json");
    if (!file.endsWith(".json") || name === "supervisor") continue;
    const identity = await readIdentity(join(folder, file));
    if (identity && isSame(identity)) {
      await endGroup(identity.pid, name === "Postgres" ? "SIGINT" : "SIGTERM");
      ended.push(name);
    }
    await rm(join(folder, file), { force: true });
  }
  return ended;
}

/**
 * Removes the postmaster.pid of a server that is gone. A living Postgres on this very folder (its record was lost) is
 * ended first; a process that merely has the same number by now is left alone.
 */
export async function clearPostgresLock(clusterDir: string): Promise<void> {
  const lock = join(clusterDir, "postmaster.pid");
  const text = await readFile(lock, "utf8").catch(() => null);
  if (text === null) return;
  const pid = Number(text.split("\n")[0]);
  if (pid > 1 && (await isPostgresOn(pid, clusterDir))) await endGroup(pid, "SIGINT");
  await rm(lock, { force: true });
}

async function isPostgresOn(pid: number, clusterDir: string): Promise<boolean> {
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => null);
  const name = (await readFile(`/proc/${pid}/comm`, "utf8").catch(() => "")).trim();
  return name === "postgres" && folder === (await realpath(clusterDir).catch(() => null));
}

async function endGroup(pid: number, signal: NodeJS.Signals): Promise<void> {
  try {
    process.kill(pid, signal);
    if (await waitForEnd(pid, 8_000)) return;
    process.kill(-pid, "SIGKILL");
    await waitForEnd(pid, 2_000);
  } catch {
    // It ended in the meantime.
  }
}
