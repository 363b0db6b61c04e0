/** From the operator's choice to the rule that images are checked by. */
import { join } from "node:path";
import type { SignatureRule } from "./signature.ts";
import { keyRule } from "./signature-key.ts";
import { keylessRule } from "./signature-keyless.ts";
import { fileTrustRoot, tufTrustRoot } from "./trust-root.ts";
import { SIGSTORE } from "./trust-state.ts";

export type Verification =
  /** The registry is trusted. */
  | { kind: "off" }
  /** PEM file with a public key. */
  | { kind: "key"; file: string }
  /** See KeylessOptions; the trust root is a file, or null for Sigstore's own, kept up to date by TUF. */
  | { kind: "keyless"; identity: string; issuer: string; trustRoot: string | null };

export interface VerificationPlace {
  /** Folder that may be shared by processes of one machine. */
  cacheDir: string;
  onWarning?: ((message: string, cause: unknown) => void) | undefined;
}

/** Null when nothing is checked; invalid_input when a file or pattern of the choice is unusable. */
export function signatureRule(choice: Verification, place: VerificationPlace): SignatureRule | null {
  if (choice.kind === "off") return null;
  if (choice.kind === "key") return keyRule(choice.file);
  const { identity, issuer, trustRoot: file } = choice;
  const trustRoot =
    file === null
      ? tufTrustRoot({
          source: SIGSTORE,
          stateFile: join(place.cacheDir, "trust-root.json"),
          onWarning: place.onWarning ?? (() => undefined),
        })
      : fileTrustRoot(file);
  return keylessRule({ identity, issuer, trustRoot });
}
