/** Chooses the store that the configuration names. */
import { DirectoryStore } from "./directory-store.ts";
import type { ObjectStore } from "./object-store.ts";
import type { S3Settings } from "./s3-store.ts";

export type StorageSettings = { kind: "directory"; path: string } | ({ kind: "s3" } & S3Settings);

/** A start is not held up longer than this by an S3 server that is away. */
const BUCKET_PATIENCE_MS = 5_000;

/**
 * The S3 client is large and is loaded only when it is used. A missing bucket is made; when that cannot be, the process
 * starts all the same and its readiness check says why.
 */
export async function createObjectStore(
  settings: StorageSettings,
  onCreated: (bucket: string) => void = () => undefined,
): Promise<ObjectStore> {
  if (settings.kind === "directory") return new DirectoryStore(settings.path);
  const { S3Store } = await import("./s3-store.ts");
  const store = new S3Store(settings);
  const created = await store.ensureBucket(AbortSignal.timeout(BUCKET_PATIENCE_MS)).catch(() => false);
  if (created) onCreated(settings.bucket);
  return store;
}
