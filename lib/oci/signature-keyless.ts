/** Keyless signatures: a certificate of a known CA for an e-mail address, and a log that saw the signature in its time. */
import type { X509Certificate } from "node:crypto";
import { type SignedEntity, type TrustMaterial, VerificationError, Verifier } from "@sigstore/verify";
import { AppError, invalidInput } from "../errors/app-error.ts";
import { type KeylessEvidence, readKeyless, UnreadableEvidence } from "./keyless-evidence.ts";
import { loggedCertificates } from "./logged-certificates.ts";
import type { Evidence, SignatureRule } from "./signature.ts";
import type { TrustRoot } from "./trust-root.ts";

export interface KeylessOptions {
  /** Regular expression that the signer's address or URI has to fit. */
  identity: string;
  /** Who vouched for it: an exact address, or a regular expression that begins with "^". */
  issuer: string;
  trustRoot: TrustRoot;
}

/** Extended key usage "code signing" (RFC 5280 §4.2.1.12). */
const CODE_SIGNING = "1.3.6.1.5.5.7.3.3";

const PROBLEM: Readonly<Record<string, string>> = {
  CERTIFICATE_ERROR: "its certificate is not trusted",
  PUBLIC_KEY_ERROR: "it is signed by a key, not keylessly",
  SIGNATURE_ERROR: "the signature is not made by the key of its certificate",
  TIMESTAMP_ERROR: "its time is not proven",
  TLOG_BODY_ERROR: "its log entry is about something else",
};

/** The rule of SOURCE_VERIFY=keyless; invalid_input when a pattern is no regular expression. */
export function keylessRule({ identity, issuer, trustRoot }: KeylessOptions): SignatureRule {
  const identityPattern = toPattern("SOURCE_VERIFY_IDENTITY", identity);
  const issuerPattern = issuer.startsWith("^") ? toPattern("SOURCE_VERIFY_ISSUER", issuer) : null;

  function identityObjection(entity: SignedEntity, material: TrustMaterial): string | null {
    const signer = new Verifier(material).verify(entity).identity;
    const name = signer?.subjectAlternativeName ?? "nobody";
    const vouching = signer?.extensions?.issuer ?? "nobody";
    if (!identityPattern.test(name)) return `it is signed by ${name}, who is not trusted`;
    const isIssuer = issuerPattern ? issuerPattern.test(vouching) : vouching === issuer;
    return isIssuer ? null : `its signer ${name} is vouched for by ${vouching}, which is not trusted`;
  }

  return {
    id: "keyless",
    forms: ["bundle", "payload"],
    hint: `SOURCE_VERIFY=keyless asks for images signed by ${identity}, vouched for by ${issuer}; nothing is built from others`,
    async check(digest, evidence) {
      const material = await trustRoot.material();
      return objectionTo(evidence, (read) => {
        const objection = read.objection(digest);
        if (objection !== null) return objection;
        if (!isForSigning(read.certificate)) return "its certificate is not for signing";
        if (!areCheckpointsPlain(read.entity)) return "its log entry has a strange checkpoint";
        if (!isLogged(read)) return "its log entry is about another certificate";
        return identityObjection(read.entity, material);
      });
    },
  };
}

/** Whatever goes wrong while hostile bytes are read or verified is a reason not to trust them. */
function objectionTo(evidence: Evidence, judge: (read: KeylessEvidence) => string | null): string | null {
  try {
    return judge(readKeyless(evidence));
  } catch (error) {
    if (error instanceof AppError) throw error;
    if (error instanceof UnreadableEvidence) return error.message;
    if (!(error instanceof VerificationError))
      return `it cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    const problem = PROBLEM[error.code] ?? "its log entry is not proven";
    const cause = error.cause instanceof Error ? `: ${error.cause.message}` : "";
    return `${problem} (${error.message}${cause})`;
  }
}

function isForSigning(certificate: X509Certificate): boolean {
  return !certificate.ca && (certificate.keyUsage ?? []).includes(CODE_SIGNING);
}

/** The library takes names out of checkpoints as patterns; a name that is more than a name could keep it busy for ever. */
function areCheckpointsPlain(entity: SignedEntity): boolean {
  return entity.tlogEntries.every((entry) => {
    const note = entry.inclusionProof?.checkpoint?.envelope ?? "";
    return [...note.matchAll(/\u2014 (\S+)/g)].every(([, name = ""]) => /^[\w./:@+-]{1,200}$/.test(name));
  });
}

/** The library compares signature and digest with the log, not who signed. */
function isLogged({ entity, certificate }: KeylessEvidence): boolean {
  return entity.tlogEntries.every((entry) =>
    loggedCertificates(entry.canonicalizedBody).some((der) => der.equals(certificate.raw)),
  );
}

function toPattern(name: string, text: string): RegExp {
  try {
    return new RegExp(text);
  } catch (cause) {
    throw invalidInput(`${name} is not a regular expression: ${text}`, { cause });
  }
}
