/** What a registry offers to prove an image with, and what says whether it is proof. */
import { z } from "zod";
import { digestHex } from "../domain/digest.ts";
import { AppError } from "../errors/app-error.ts";
import { SIGNATURE_TYPE } from "../formats/image-signature.ts";

/** A layer behind cosign's signature tag with its annotations, or a Sigstore bundle that refers to the image. */
export type Evidence =
  | { form: "payload"; payload: Uint8Array; annotations: Readonly<Record<string, string>> }
  | { form: "bundle"; bundle: Uint8Array };

/** Whose signatures count. */
export interface SignatureRule {
  /** Names the folder of accepted evidence. */
  id: string;
  /** Forms it can judge, in the order they are asked for. */
  forms: readonly Evidence["form"][];
  /** What the operator's choice asks for, for people who meet a refusal. */
  hint: string;
  /** Null when the evidence proves the image of this digest, else why not, for people. */
  check(digest: string, evidence: Evidence): Promise<string | null>;
}

/** A payload is a few hundred bytes; more is no payload. */
export const MAX_PAYLOAD_BYTES = 64 * 1024;
/** A bundle of a signature is a few kilobytes. */
export const MAX_BUNDLE_BYTES = 1024 * 1024;

const payloadSchema = z.object({
  critical: z.object({
    image: z.object({ "docker-manifest-digest": z.string() }),
    type: z.string(),
  }),
});

/** Tag under which cosign keeps the signatures of an image. */
export function signatureTag(digest: string): string {
  return `sha256-${digestHex(digest)}.sig`;
}

/** Null when a signed "simple signing" payload names this digest, else the reason why not, for people. */
export function payloadObjection(payload: Uint8Array, digest: string): string | null {
  let json: unknown;
  try {
    json = JSON.parse(Buffer.from(payload).toString("utf8"));
  } catch {
    return "the signed payload is not JSON";
  }
  const parsed = payloadSchema.safeParse(json);
  if (!parsed.success || parsed.data.critical.type !== SIGNATURE_TYPE) {
    return "the signed payload is not a container image signature";
  }
  const signed = parsed.data.critical.image["docker-manifest-digest"];
  return signed === digest ? null : `the signature is over ${signed.slice(0, 100)}`;
}

/** source_invalid naming image, digest and reason. */
export function unverified(repository: string, digest: string, reason: string, hint: string): AppError {
  return new AppError(
    "source_invalid",
    `the signature of ${repository}@${digest} is not verified: ${reason}`,
    { hint, retryable: false, details: { image: repository, digest, reason } },
  );
}
