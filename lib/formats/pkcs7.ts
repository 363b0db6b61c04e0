/** PKCS#7 SignedData (RFC 2315 §9) with one RSA signer and SHA-256, always the same bytes for the same content. */
import { sha256 } from "@noble/hashes/sha2.js";
import { der, derContext, derInteger, derNull, derOctets, derOid, derSequence, derSet } from "./der.ts";
import { certificateNames } from "./x509.ts";

export interface Signer {
  /** DER. */
  certificate: Uint8Array;
  /** RSASSA-PKCS1-v1_5 signature with SHA-256 over the bytes, by the certificate's key. */
  sign: (bytes: Uint8Array) => Uint8Array;
}

const SIGNED_DATA = "1.2.840.113549.1.7.2";
const DATA = "1.2.840.113549.1.7.1";
const CONTENT_TYPE = "1.2.840.113549.1.9.3";
const MESSAGE_DIGEST = "1.2.840.113549.1.9.4";
const VERSION_1 = derInteger(Uint8Array.of(1));
const SHA256 = derSequence(derOid("2.16.840.1.101.3.4.2.1"), derNull());
const RSA_ENCRYPTION = derSequence(derOid("1.2.840.113549.1.1.1"), derNull());

/** Signature over bytes that stand elsewhere, without signed attributes (UEFI 2.10 §8.2.2 forbids them). */
export function detachedSignedData(content: Uint8Array, signer: Signer): Uint8Array {
  return signedData(derSequence(derOid(DATA)), signer, new Uint8Array(), signer.sign(content));
}

/**
 * Signature over content that is carried along. The digest covers the content's value without its own identifier and
 * length (RFC 2315 §9.3). There is no signing time, so that equal content gives equal bytes.
 */
export function attachedSignedData(contentType: string, content: Uint8Array, signer: Signer): Uint8Array {
  const attributes = [
    derSequence(derOid(CONTENT_TYPE), derSet(derOid(contentType))),
    derSequence(derOid(MESSAGE_DIGEST), derSet(derOctets(sha256(contentOctets(content))))),
  ];
  // What is signed is the set with its ordinary identifier; what is stored has [0] in its place.
  const signature = signer.sign(derSet(...attributes));
  const info = derSequence(derOid(contentType), derContext(0, content));
  return signedData(info, signer, derContext(0, ...attributes), signature);
}

function signedData(
  contentInfo: Uint8Array,
  { certificate }: Signer,
  attributes: Uint8Array,
  signature: Uint8Array,
): Uint8Array {
  const { issuer, serial } = certificateNames(certificate);
  const signerInfo = derSequence(
    VERSION_1,
    derSequence(issuer, serial),
    SHA256,
    attributes,
    RSA_ENCRYPTION,
    derOctets(signature),
  );
  return derSequence(VERSION_1, derSet(SHA256), contentInfo, derContext(0, certificate), derSet(signerInfo));
}

function contentOctets(element: Uint8Array): Uint8Array {
  const first = element[1] ?? 0;
  return element.subarray(2 + (first >= 0x80 ? first & 0x7f : 0));
}

/** SignedData as a ContentInfo, the form that stands in files of its own. */
export const contentInfo = (data: Uint8Array): Uint8Array =>
  der(0x30, derOid(SIGNED_DATA), derContext(0, data));
