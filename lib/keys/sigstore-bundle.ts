/** Sigstore bundles (protobuf-specs, bundle v0.3) for signatures by a plain key: over a file, or over a statement. */
import { bundleToJSON, toDSSEBundle, toMessageSignatureBundle } from "@sigstore/bundle";

/** Payload of an envelope that carries an in-toto statement. */
export const IN_TOTO = "application/vnd.in-toto+json";

/** Signs digests; `hint` is what verifiers choose the key by. */
export interface DigestSigner {
  hint: string;
  signDigest: (sha256: Uint8Array) => Uint8Array;
}

const encode = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

/** The bundle of a file whose SHA-256 is given. */
export function fileBundle(sha256: Uint8Array, signer: DigestSigner): Uint8Array {
  const signature = Buffer.from(signer.signDigest(sha256));
  const bundle = toMessageSignatureBundle({ digest: Buffer.from(sha256), signature, keyHint: signer.hint });
  return encode(bundleToJSON(bundle));
}

/** What a DSSE signature is made over (DSSE v1, "Pre-Authentication Encoding"). */
export function preAuthEncoding(payloadType: string, payload: Uint8Array): Uint8Array {
  const type = Buffer.from(payloadType);
  const head = `DSSEv1 ${type.length} ${payloadType} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

/** The bundle of an in-toto statement; `sha256` hashes. */
export function statementBundle(
  statement: unknown,
  signer: DigestSigner,
  sha256: (bytes: Uint8Array) => Uint8Array,
): Uint8Array {
  const artifact = Buffer.from(encode(statement));
  const signature = Buffer.from(signer.signDigest(sha256(preAuthEncoding(IN_TOTO, artifact))));
  const bundle = toDSSEBundle({ artifact, artifactType: IN_TOTO, signature, keyHint: signer.hint });
  // Verifiers have key IDs of several kinds and skip a signature whose ID is not theirs; without one they try their key.
  for (const one of bundle.content.dsseEnvelope.signatures) one.keyid = "";
  return encode(bundleToJSON(bundle));
}
