/** The account under which programs out of images run, and whose files are whose before and after. */
import { chmod, lchown, lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

/** When we are root such programs run under this account, which owns nothing and which nobody uses. */
export const NOBODY = 65_533;

const SETPRIV = "/usr/bin/setpriv";

/** bubblewrap looks its children up in /proc, which has to be that of its own namespace of processes. */
const OWN_PROC = 'mount -t proc proc /proc 2>/dev/null; exec "$@"';

/**
 * Words before a command that give up root for good. For a command that is the first in namespaces of mounts and of
 * processes: it gets a /proc of its own, where the kernel allows that.
 */
export const AS_NOBODY = [
  ...["/bin/sh", "-c", OWN_PROC, "sh"],
  ...[SETPRIV, `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", "--no-new-privs"],
  "--",
];

/** True when we are root. */
export const areRoot = (): boolean => process.getuid?.() === 0;

/** Makes the account the owner of the folder and of all below it; links are not followed. */
export async function giveAway(path: string, uid: number): Promise<void> {
  await lchown(path, uid, uid);
  if (!(await lstat(path)).isDirectory()) return;
  for (const name of await readdir(path)) await giveAway(join(path, name), uid);
}

/** Programs leave folders that their owner may not enter, and other owners when we are root. Links are not followed. */
export async function takeBack(path: string, isRoot: boolean): Promise<void> {
  if (isRoot) await lchown(path, process.getuid?.() ?? 0, process.getgid?.() ?? 0);
  const stats = await lstat(path);
  if (stats.isFile()) await chmod(path, 0o644);
  if (!stats.isDirectory()) return;
  await chmod(path, 0o755);
  for (const name of await readdir(path)) await takeBack(join(path, name), isRoot);
}
