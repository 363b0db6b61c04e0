/** What is "/" for a file of an extension: the machine's own tree, or the root of the container it belongs to. */
import { normalize } from "node:path/posix";
import type { FileMap, MappedFile } from "./file-map.ts";

/** Each folder in it is the root of one service's container. */
export const CONTAINERS = "usr/local/lib/containers";
/** Definitions of services, one file each. */
export const DEFINITIONS = "usr/local/etc/containers";

/** Path of the root that a file's own "/" stands for; empty for the machine's. */
export function scopeOf(path: string): string {
  const below = path.startsWith(`${CONTAINERS}/`) ? path.slice(CONTAINERS.length + 1).split("/") : [];
  return below.length > 1 ? `${CONTAINERS}/${below[0]}` : "";
}

/** A folder or file of the machine that a container sees at a place of its own. */
export interface Seen {
  source: string;
  destination: string;
}

/** What an absolute path inside a container is on the machine; null when no mount covers it. The innermost mount wins. */
export function onMachine(mounts: readonly Seen[], path: string): string | null {
  const wanted = normalize(`/${path}`);
  const covering = mounts
    .map(({ source, destination }) => ({ source, destination: destination.replace(/\/+$/, "") }))
    .filter(({ destination }) => wanted === destination || wanted.startsWith(`${destination}/`))
    .sort((a, b) => b.destination.length - a.destination.length);
  const [mount] = covering;
  return mount === undefined ? null : normalize(mount.source + wanted.slice(mount.destination.length));
}

/** The entry at a path of a container, through its mounts into what the extension brings for the machine. */
export function resolveSeen(
  map: FileMap,
  scope: string,
  mounts: readonly Seen[],
  path: string,
): MappedFile | null {
  map.spend(mounts.length);
  const machine = onMachine(mounts, path);
  return (machine === null ? null : map.resolve("", machine)) ?? map.resolve(scope, path);
}
