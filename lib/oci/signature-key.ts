/** Signatures by one public key: cosign's "simple signing" payloads under the tag sha256-<hex>.sig. */
import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { invalidInput } from "../errors/app-error.ts";
import { SIGNATURE_ANNOTATION } from "../formats/image-signature.ts";
import { payloadObjection, type SignatureRule } from "./signature.ts";

/** The rule of SOURCE_VERIFY=key:<file>; invalid_input naming the file when it holds no usable public key. */
export function keyRule(file: string): SignatureRule {
  const key = loadTrustedKey(file);
  const der = key.export({ type: "spki", format: "der" });
  return {
    id: createHash("sha256").update(der).digest("hex"),
    forms: ["payload"],
    hint: "SOURCE_VERIFY=key:<file> asks for images signed by that key; nothing is built from others",
    async check(digest, evidence) {
      if (evidence.form !== "payload") return "it is not a signature by a key";
      const signature = Buffer.from(evidence.annotations[SIGNATURE_ANNOTATION] ?? "", "base64");
      if (!isSignedBy(key, evidence.payload, signature))
        return "the signature is not made by the configured key";
      return payloadObjection(evidence.payload, digest);
    },
  };
}

/** Reads a PEM public key (ECDSA, RSA or Ed25519). */
function loadTrustedKey(file: string): KeyObject {
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
  return key;
}

/** ECDSA (DER) and RSA (PKCS #1 v1.5) sign the SHA-256 of the payload, Ed25519 the payload itself (RFC 8032). */
function isSignedBy(key: KeyObject, payload: Uint8Array, signature: Uint8Array): boolean {
  const algorithm = key.asymmetricKeyType === "ed25519" ? null : "sha256";
  try {
    return verify(algorithm, payload, key, signature);
  } catch {
    return false;
  }
}
