/** Signatures by the factory's own key: its public half, bundles of files, evidence of images. */
import { LRUCache } from "lru-cache";
import { notFound } from "../../errors/app-error.ts";
import type { OciSigningKey } from "../../keys/oci-signing-key.ts";
import { fileBundle } from "../../keys/sigstore-bundle.ts";
import type { SigningService } from "./contracts.ts";
import { createImageSigning } from "./image-signing.ts";

/** A signature takes a few milliseconds of this thread; a bundle is 600 bytes. */
const ENTRIES = 5_000;

/** Null for `key`: everything is refused with a sentence that says what to configure. */
export function createSigningService(key: OciSigningKey | null): SigningService {
  const bundles = new LRUCache<string, Uint8Array>({ max: ENTRIES });
  const required = (): OciSigningKey => {
    if (key !== null) return key;
    throw notFound("this factory does not sign: it has no signing key", {
      hint: "The operator sets OCI_SIGNING_KEY; checksums are at <file>.sha256 meanwhile.",
    });
  };
  return {
    publicKeyPem: () => required().publicKeyPem,
    fileBundle(sha256) {
      const signer = required();
      const known = bundles.get(sha256);
      if (known !== undefined) return known;
      const made = fileBundle(Buffer.from(sha256, "hex"), signer);
      bundles.set(sha256, made);
      return made;
    },
    images: key && createImageSigning(key),
  };
}
