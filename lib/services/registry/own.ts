/** The part of the registry that holds own extensions and overlays: what was brought here, as it was brought. */
import type { RegistryRepository } from "../../db/registry-repository.ts";
import { digestHex, isDigest } from "../../domain/digest.ts";
import type { OwnRepository } from "../../domain/registry-path.ts";
import { isTag } from "../../oci/reference.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { blobKey } from "../inputs/source-blobs.ts";
import type { RegistryPart } from "./contracts.ts";
import { referrersIndex } from "./referrers.ts";
import { badDigest, badSubject, blobUnknown, manifestUnknown } from "./refusals.ts";

/** Everything under own/<namespace>/<name>; nothing is built or fetched for a question. */
export function createRegistryOwn({
  rows,
  store,
}: {
  rows: RegistryRepository;
  store: ObjectStore;
}): RegistryPart<OwnRepository> {
  return {
    async manifest({ repository }, reference) {
      if (reference.includes(":") && !isDigest(reference)) throw badDigest(reference);
      const tag = isTag(reference) ? await rows.findTag(repository, reference) : null;
      const digest = isDigest(reference) ? reference : tag?.digest;
      const manifest = digest === undefined ? null : await rows.findManifest(repository, digest);
      if (manifest === null) throw manifestUnknown(reference);
      return manifest;
    },
    async blob({ repository }, digest) {
      if (!isDigest(digest)) throw badDigest(digest);
      const blob = await rows.findBlob(repository, digest);
      const key = blobKey(digestHex(digest));
      if (blob === null || (await store.head(key)) === null) throw blobUnknown(digest);
      return { ...blob, open: (range, signal) => store.get(key, range, signal) };
    },
    async referrers({ repository }, digest, { artifactType }) {
      if (!isDigest(digest)) throw badSubject(digest);
      return referrersIndex(await rows.referrers(repository, digest), artifactType);
    },
    tags: ({ repository }) => rows.tags(repository),
  };
}
