/** Refusals that both halves of the registry share; docs/registry.md has the table. */
import { registryError } from "../../domain/registry-path.ts";
import type { AppError } from "../../errors/app-error.ts";

/** No such tag or manifest. */
export const manifestUnknown = (reference: string): AppError =>
  registryError("not_found", "MANIFEST_UNKNOWN", "manifest unknown", {
    hint: "Tags are versions with a v, for example v1.13.0, and latest.",
    details: { reference },
  });

/** No such blob in this repository. */
export const blobUnknown = (digest: string): AppError =>
  registryError("not_found", "BLOB_UNKNOWN", "blob unknown to registry", {
    hint: "Pull the manifest first; it names the blobs of this image.",
    details: { digest },
  });

/** A digest that is none. */
export const badDigest = (digest: string): AppError =>
  registryError("not_found", "DIGEST_INVALID", `invalid digest: ${digest}`, {
    hint: "Digests are sha256: and 64 lower-case hex digits.",
  });

/** The same where referrers are asked for. */
export const badSubject = (digest: string): AppError =>
  registryError("not_found", "DIGEST_INVALID", `invalid referrers subject digest: ${digest}`);
