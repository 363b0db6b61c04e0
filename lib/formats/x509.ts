/** X.509 certificates (RFC 5280): what signatures need to know of one, and a self-signed one for SecureBoot keys. */
import {
  der,
  derBits,
  derContext,
  derInteger,
  derNull,
  derOctets,
  derOid,
  derSequence,
  derSet,
  derText,
  derTime,
  readDer,
  readDerList,
} from "./der.ts";

export interface CertificateNames {
  /** DER of the issuer's name. */
  issuer: Uint8Array;
  /** DER of the serial number. */
  serial: Uint8Array;
}

export interface NewCertificate {
  commonName: string;
  /** Big-endian; at most 20 bytes count (RFC 5280 §4.1.2.2). */
  serial: Uint8Array;
  notBefore: Date;
  notAfter: Date;
  /** SubjectPublicKeyInfo, DER. */
  publicKey: Uint8Array;
  /** SHA-1 of the public key, or anything else that names it. */
  keyId: Uint8Array;
}

/** RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 appendix A.2.4). */
const SHA256_WITH_RSA = derSequence(derOid("1.2.840.113549.1.1.11"), derNull());

/** Issuer and serial number, which name the signer in a PKCS#7 signature. RangeError for what is no certificate. */
export function certificateNames(certificate: Uint8Array): CertificateNames {
  const [tbs] = readDerList(readDer(certificate).content);
  const fields = readDerList(tbs?.content ?? new Uint8Array());
  // The version [0] is left out in certificates of version 1.
  const [serial, , issuer] = fields[0]?.tag === 0xa0 ? fields.slice(1) : fields;
  if (!serial || !issuer) throw new RangeError("the certificate is not complete");
  return { issuer: issuer.whole, serial: serial.whole };
}

/**
 * A self-signed certificate, DER. `sign` gives the RSASSA-PKCS1-v1_5 SHA-256 signature of its bytes. It may sign
 * programs and certificates, as it has to stand for the platform key, the key exchange key and the signer of images.
 */
export function selfSignedCertificate(
  certificate: NewCertificate,
  sign: (bytes: Uint8Array) => Uint8Array,
): Uint8Array {
  const name = derSequence(derSet(derSequence(derOid("2.5.4.3"), derText(certificate.commonName))));
  const tbs = derSequence(
    derContext(0, derInteger(Uint8Array.of(2))),
    derInteger(certificate.serial),
    SHA256_WITH_RSA,
    name,
    derSequence(derTime(certificate.notBefore), derTime(certificate.notAfter)),
    name,
    certificate.publicKey,
    derContext(3, derSequence(...extensions(certificate.keyId))),
  );
  return derSequence(tbs, SHA256_WITH_RSA, derBits(sign(tbs)));
}

function extensions(keyId: Uint8Array): Uint8Array[] {
  const yes = der(0x01, Uint8Array.of(0xff));
  const extension = (oid: string, critical: boolean, value: Uint8Array) =>
    derSequence(derOid(oid), critical ? yes : new Uint8Array(), derOctets(value));
  // keyUsage: digitalSignature (bit 0) and keyCertSign (bit 5).
  const keyUsage = derBits(Uint8Array.of(0b1000_0100), 2);
  return [
    extension("2.5.29.19", true, derSequence(yes)),
    extension("2.5.29.15", true, keyUsage),
    extension("2.5.29.14", false, derOctets(keyId)),
    extension("2.5.29.35", false, derSequence(der(0x80, keyId))),
  ];
}
