/** Small file questions of the setup: content hashes of source trees, stamps of finished steps, one setup at a time. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const STAMPS = ".cache/setup";

/** SHA-256 over names and contents of the given files and folders; what is not there counts as empty. */
export function hashOf(paths, extra = "") {
  const hash = createHash("sha256").update(extra);
  for (const path of paths)
    for (const file of filesUnder(path)) hash.update(`\0${file}\0`).update(readFileSync(file));
  return hash.digest("hex");
}

function filesUnder(path) {
  const info = statSync(path, { throwIfNoEntry: false });
  if (!info?.isDirectory()) return info ? [path] : [];
  return readdirSync(path, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const child = join(path, entry.name);
      if (entry.isDirectory()) return child === "lib/db/generated" ? [] : filesUnder(child);
      return entry.isFile() ? [child] : [];
    });
}

/** True when the step was finished with this key and its product is still there. */
export function isStamped(step, key, product) {
  const stamp = join(STAMPS, step);
  return existsSync(product) && existsSync(stamp) && readFileSync(stamp, "utf8") === key;
}

export function stamp(step, key) {
  mkdirSync(STAMPS, { recursive: true });
  writeFileSync(join(STAMPS, step), key);
}

/** Runs the work while no other setup works in this folder; a lock whose process is gone is taken over. */
export async function withSetupLock(say, work) {
  const lock = join(STAMPS, "lock");
  mkdirSync(STAMPS, { recursive: true });
  for (let waited = 0; !takeLock(lock); waited++) {
    if (waited === 0) say("waiting for another setup in this folder");
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function takeLock(lock) {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch {
    const owner = existsSync(lock) ? Number(readFileSync(lock, "utf8")) : 0;
    if (owner > 0 && !isAlive(owner)) rmSync(lock, { force: true });
    return false;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
