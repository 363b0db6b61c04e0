/** What signs SecureBoot files. Private keys never leave this layer: others get functions that sign. */
import type { SigningIdentity } from "../domain/recipe-types.ts";
import type { PcrBank } from "../formats/pcr-policy.ts";

/** Ready-made .auth files, used instead of made ones. */
export interface KeyDatabases {
  PK: Uint8Array;
  KEK: Uint8Array;
  db: Uint8Array;
}

export interface SecureBootKeys {
  identity: SigningIdentity;
  /** Signing certificate, DER. */
  certificate: Uint8Array;
  /** The same as PEM. */
  certificatePem: string;
  /** RSASSA-PKCS1-v1_5 with SHA-256 by the certificate's key. */
  sign: (bytes: Uint8Array) => Uint8Array;
  pcr: {
    /** SubjectPublicKeyInfo as PEM. */
    publicKeyPem: string;
    /** SHA-256 of the public key as PKCS#1 DER. */
    keyId: Uint8Array;
    /** RSASSA-PKCS1-v1_5 with the hash of the bank. */
    sign: (bank: PcrBank, bytes: Uint8Array) => Uint8Array;
  };
  databases: KeyDatabases | null;
}

/** Where the three PEM files are. */
export interface KeyFiles {
  signingKey: string;
  signingCertificate: string;
  pcrKey: string;
  /** Files of ready-made databases; unless given, those beside the certificate. */
  databases?: Record<keyof KeyDatabases, string>;
}
