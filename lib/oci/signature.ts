/** Checks image signatures against one public key: cosign's "simple signing" payloads under the tag sha256-<hex>.sig. */
import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { z } from "zod";
import { AppError, invalidInput } from "../errors/app-error.ts";
import { SIGNATURE_TYPE } from "../formats/image-signature.ts";
import { digestHex } from "./reference.ts";

export interface Evidence {
  /** Exact bytes that were signed. */
  payload: Uint8Array;
  /** Base64. */
  signature: string;
}

/** A payload is a few hundred bytes; more is no payload. */
export const MAX_PAYLOAD_BYTES = 64 * 1024;

const payloadSchema = z.object({
  critical: z.object({
    image: z.object({ "docker-manifest-digest": z.string() }),
    type: z.string(),
  }),
});

/** A trusted public key and its fingerprint. */
export interface TrustedKey {
  key: KeyObject;
  /** SHA-256 of the key in DER, hex. */
  id: string;
}

/** Reads a PEM public key (ECDSA, RSA or Ed25519); invalid_input naming the file when it is none. */
export function loadTrustedKey(file: string): TrustedKey {
  let key: KeyObject;
  try {
    const pem = readFileSync(file, "utf8");
    if (pem.includes("PRIVATE KEY")) throw new Error("it is a private key");
    key = createPublicKey(pem);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw invalidInput(`the signature key ${file} cannot be used: ${reason}`, {
      hint: "SOURCE_VERIFY=key:<file> wants a PEM file with a public key",
      cause,
    });
  }
  if (!["ec", "rsa", "ed25519"].includes(key.asymmetricKeyType ?? "")) {
    throw invalidInput(`the signature key ${file} has the unsupported type ${key.asymmetricKeyType}`);
  }
  const der = key.export({ type: "spki", format: "der" });
  return { key, id: createHash("sha256").update(der).digest("hex") };
}

/** Tag under which cosign keeps the signatures of an image. */
export function signatureTag(digest: string): string {
  return `sha256-${digestHex(digest)}.sig`;
}

/** Null when the evidence is a good signature over this digest, else the reason why not, for people. */
export function checkEvidence({ key }: TrustedKey, digest: string, evidence: Evidence): string | null {
  const signature = Buffer.from(evidence.signature, "base64");
  // ECDSA (DER) and RSA (PKCS #1 v1.5) sign the SHA-256 of the payload, Ed25519 the payload itself (RFC 8032).
  const algorithm = key.asymmetricKeyType === "ed25519" ? null : "sha256";
  let good: boolean;
  try {
    good = verify(algorithm, evidence.payload, key, signature);
  } catch {
    good = false;
  }
  if (!good) return "the signature is not made by the configured key";
  let json: unknown;
  try {
    json = JSON.parse(Buffer.from(evidence.payload).toString("utf8"));
  } catch {
    return "the signed payload is not JSON";
  }
  const payload = payloadSchema.safeParse(json);
  if (!payload.success || payload.data.critical.type !== SIGNATURE_TYPE) {
    return "the signed payload is not a container image signature";
  }
  const signed = payload.data.critical.image["docker-manifest-digest"];
  return signed === digest ? null : `the signature is over ${signed.slice(0, 100)}`;
}

/** source_invalid naming image, digest and reason. */
export function unverified(repository: string, digest: string, reason: string): AppError {
  return new AppError(
    "source_invalid",
    `the signature of ${repository}@${digest} is not verified: ${reason}`,
    {
      hint: "SOURCE_VERIFY=key:<file> asks for images signed by that key; nothing is built from others",
      retryable: false,
      details: { image: repository, digest, reason },
    },
  );
}
