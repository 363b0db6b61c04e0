/** Puts what an asset names by digest into the object store, before the asset itself: a manifest never lacks a layer. */
import { copyFile, link } from "node:fs/promises";
import path from "node:path";
import { digestHex } from "../../domain/digest.ts";
import { AppError } from "../../errors/app-error.ts";
import type { Product } from "../../imager/types.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { blobKey } from "../inputs/source-blobs.ts";

/** Blobs that are there already are left alone. `dir` takes second names of files that belong to a cache. */
export async function storeBlobs(
  store: ObjectStore,
  blobs: NonNullable<Product["blobs"]>,
  dir: string,
  signal: AbortSignal,
): Promise<void> {
  for (const [index, blob] of blobs.entries()) {
    const hex = digestHex(blob.digest);
    if ((await store.head(blobKey(hex))) !== null) continue;
    // The store takes the file away.
    const own = path.join(dir, `blob-${index}`);
    await link(blob.path, own).catch(() => copyFile(blob.path, own));
    const { sha256 } = await store.putFile(blobKey(hex), own, { signal });
    if (sha256 === hex) continue;
    await store.delete(blobKey(hex));
    throw new AppError(
      "internal",
      `a blob of the image has the digest sha256:${sha256} instead of ${blob.digest}`,
    );
  }
}
