/** Images that lie in our own tables and store, answered as a registry would answer, so that one reader knows both. */
import type { RegistryRepository } from "../../db/registry-repository.ts";
import { digestHex, isDigest } from "../../domain/digest.ts";
import { webStream } from "../../oci/web-stream.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { blobKey } from "../inputs/source-blobs.ts";

/** The address that stands for our own registry. Nothing is ever sent to it. */
export const OWN_REGISTRY = "http://own-extensions";

const PATH = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/;
const missing = () => new Response(null, { status: 404 });

/** A fetch that answers GET and HEAD of manifests and blobs by digest (OCI distribution-spec 1.1, "Pull"). */
export function ownRegistryFetch(rows: RegistryRepository, store: ObjectStore): typeof fetch {
  return async (input, init) => {
    const address = new URL(input instanceof Request ? input.url : input);
    const [, repository = "", resource, reference = ""] = PATH.exec(address.pathname) ?? [];
    const bodyless = init?.method === "HEAD";
    if (!isDigest(reference)) return missing();
    if (resource === "manifests") {
      const manifest = await rows.findManifest(repository, reference);
      if (manifest === null) return missing();
      const headers = { "content-type": manifest.mediaType, "docker-content-digest": manifest.digest };
      return new Response(bodyless ? null : Buffer.from(manifest.bytes), { headers });
    }
    const key = blobKey(digestHex(reference));
    const object = await store.head(key);
    if (object === null) return missing();
    const headers = { "content-length": String(object.sizeBytes) };
    if (bodyless) return new Response(null, { headers });
    return new Response(webStream(await store.get(key, undefined, init?.signal ?? undefined)), { headers });
  };
}
