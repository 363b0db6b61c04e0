/** What is "/" for a file of an extension: the machine's own tree, or the root of the container it belongs to. */

/** Each folder in it is the root of one service's container. */
export const CONTAINERS = "usr/local/lib/containers";
/** Definitions of services, one file each. */
export const DEFINITIONS = "usr/local/etc/containers";

/** Path of the root that a file's own "/" stands for; empty for the machine's. */
export function scopeOf(path: string): string {
  const below = path.startsWith(`${CONTAINERS}/`) ? path.slice(CONTAINERS.length + 1).split("/") : [];
  return below.length > 1 ? `${CONTAINERS}/${below[0]}` : "";
}
