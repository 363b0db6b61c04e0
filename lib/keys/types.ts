/** What signs SecureBoot files. Private keys never leave this layer: others get functions that sign. */
import type { SecureBootVariable } from "../formats/efi-auth.ts";
import type { SigningKeys } from "../formats/signing-keys.ts";

/** Ready-made .auth files, used instead of made ones. */
export type KeyDatabases = Record<SecureBootVariable, Uint8Array>;

export interface SecureBootKeys extends SigningKeys {
  /** The signing certificate as PEM. */
  certificatePem: string;
}

/** Where the three PEM files are. */
export interface KeyFiles {
  signingKey: string;
  signingCertificate: string;
  pcrKey: string;
  /** Files of ready-made databases; unless given, those beside the certificate. */
  databases?: Record<keyof KeyDatabases, string>;
}
