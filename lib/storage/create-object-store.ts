/** Chooses the store that the configuration names. */
import { DirectoryStore } from "./directory-store.ts";
import type { ObjectStore } from "./object-store.ts";
import type { S3Settings } from "./s3-store.ts";

export type StorageSettings = { kind: "directory"; path: string } | ({ kind: "s3" } & S3Settings);

/** The S3 client is large and is loaded only when it is used. */
export async function createObjectStore(settings: StorageSettings): Promise<ObjectStore> {
  if (settings.kind === "directory") return new DirectoryStore(settings.path);
  const { S3Store } = await import("./s3-store.ts");
  return new S3Store(settings);
}
