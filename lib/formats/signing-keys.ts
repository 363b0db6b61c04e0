/** What signs SecureBoot files, as the imager asks for it. The keys themselves stay where they are. */
import type { SigningIdentity } from "../domain/recipe-types.ts";
import type { SecureBootVariable } from "./efi-auth.ts";
import type { PcrBank } from "./pcr-policy.ts";

export interface SigningKeys {
  /** Which keys these are; a plan made for others is refused. */
  identity: SigningIdentity;
  /** Signing certificate, DER. */
  certificate: Uint8Array;
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
  /** Ready-made .auth files, used instead of made ones. */
  databases: Record<SecureBootVariable, Uint8Array> | null;
}
