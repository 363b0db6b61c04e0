/** Layers and manifests of source images in the object store, so that a second machine need not ask the registry again. */
import { copyFile, link, rm } from "node:fs/promises";
import type { SecondLevel } from "../../oci/blob-cache.ts";
import type { ObjectStore } from "../../storage/object-store.ts";

/** Where the object store keeps a blob: layers of sources and of our own images alike, once for all that use them. */
export const blobKey = (hex: string): string => `blobs/sha256/${hex}`;

/** The second level of the blob cache. The reader checks the digest, so nothing is checked twice here. */
export function createSourceBlobs(store: ObjectStore): SecondLevel {
  return {
    async fetch(hex, path, signal, maxBytes) {
      const key = blobKey(hex);
      if (maxBytes !== undefined && ((await store.head(key))?.sizeBytes ?? 0) > maxBytes) return false;
      return store.getFile(key, path, signal);
    },
    async keep(hex, path, signal) {
      if ((await store.head(blobKey(hex))) !== null) return;
      // A second name for the same bytes where the file system can, because the store takes the file it is given.
      const own = `${path}.${process.pid}.keep`;
      await link(path, own).catch(() => copyFile(path, own));
      try {
        await store.putFile(blobKey(hex), own, { signal });
      } finally {
        await rm(own, { force: true });
      }
    },
  };
}
