/** Everything that lies below DATA_DIR; docs/running.md and docs/builds.md say what each holds. */
import { join } from "node:path";

/** Kept as long as the factory: what a backup needs. */
export const KEPT = [
  "admin-token",
  "keys/oci-signing.key",
  "keys/secureboot",
  "objects",
  "postgres",
  "postgres-password",
] as const;

/** Of the programs that run; made anew at the next start. */
export const RUNNING = ["log", "redis", "redis-password", "run"] as const;

/** Made again when it is missing. */
export const PASSING = [
  "boot-scratch",
  "cache/cli",
  "cache/contents",
  "cache/inputs",
  "cache/parts",
  "cache/sbom",
  "cache/source",
  "cache/talosctl",
  "own-scratch",
  "scratch",
] as const;

/** Where web processes unpack; builds clean up after themselves. */
export const UNPACKING = ["cache/contents", "cache/sbom", "cache/talosctl", "own-scratch"] as const;

export type DataEntry = (typeof KEPT | typeof RUNNING | typeof PASSING)[number];

/** The path of a file or folder below DATA_DIR. */
export const inDataDir = (dataDir: string, entry: DataEntry): string => join(dataDir, entry);
