/** Reads keyless evidence of both forms into what the sigstore library verifies, and what it says about which image. */
import { X509Certificate } from "node:crypto";
import { bundleFromJSON, isBundleWithDsseEnvelope } from "@sigstore/bundle";
import { type SignedEntity, toSignedEntity } from "@sigstore/verify";
import { z } from "zod";
import { digestHex, digestOf } from "../domain/digest.ts";
import { SIGN_PREDICATE, SIGNATURE_ANNOTATION } from "../formats/image-signature.ts";
import { type Evidence, payloadObjection } from "./signature.ts";

/** Evidence that could be read. */
export interface KeylessEvidence {
  entity: SignedEntity;
  certificate: X509Certificate;
  /** Null when it is about the image of this digest and says that it is signed, else why not. */
  objection(digest: string): string | null;
}

/** Says in a few words why evidence cannot be read; for people. */
export class UnreadableEvidence extends Error {}

const CERTIFICATE = "dev.sigstore.cosign/certificate";
const LOG_ENTRY = "dev.sigstore.cosign/bundle";
const TIMESTAMP = "dev.sigstore.cosign/rfc3161timestamp";
const IN_TOTO = "application/vnd.in-toto+json";

const logEntrySchema = z.object({
  SignedEntryTimestamp: z.base64(),
  Payload: z.object({
    body: z.base64(),
    integratedTime: z.int().nonnegative(),
    logIndex: z.int().nonnegative(),
    logID: z.hex(),
  }),
});
const kindSchema = z.object({ kind: z.string(), apiVersion: z.string() });
const timestampSchema = z.object({ SignedRFC3161Timestamp: z.base64() });
const statementSchema = z.object({
  _type: z.enum(["https://in-toto.io/Statement/v1", "https://in-toto.io/Statement/v0.1"]),
  subject: z.array(z.object({ digest: z.record(z.string(), z.string()) })).min(1),
  predicateType: z.string(),
});

/** The evidence, read; UnreadableEvidence for what is no keyless signature. Nothing is verified yet. */
export function readKeyless(evidence: Evidence): KeylessEvidence {
  return evidence.form === "bundle"
    ? readBundle(evidence.bundle)
    : readPayload(evidence.payload, evidence.annotations);
}

function readBundle(bytes: Uint8Array): KeylessEvidence {
  const bundle = bundleFromJSON(parseJson("the bundle", Buffer.from(bytes).toString("utf8")));
  if (!isBundleWithDsseEnvelope(bundle)) throw new UnreadableEvidence("the bundle holds no statement");
  const { payload, payloadType } = bundle.content.dsseEnvelope;
  const { content } = bundle.verificationMaterial;
  if (content.$case === "publicKey") throw new UnreadableEvidence("it is signed by a key, not keylessly");
  const der =
    content.$case === "certificate"
      ? content.certificate.rawBytes
      : content.x509CertificateChain.certificates[0]?.rawBytes;
  return {
    entity: toSignedEntity(bundle),
    certificate: new X509Certificate(der ?? Buffer.alloc(0)),
    objection: (digest) =>
      payloadType === IN_TOTO ? statementObjection(payload, digest) : "the bundle holds no in-toto statement",
  };
}

function statementObjection(payload: Uint8Array, digest: string): string | null {
  const json = parseJson("the signed statement", Buffer.from(payload).toString("utf8"));
  const { data } = statementSchema.safeParse(json);
  if (!data) return "the signed statement is not an in-toto statement";
  if (data.predicateType !== SIGN_PREDICATE)
    return `the signed statement is no signature but ${data.predicateType.slice(0, 100)}`;
  if (data.subject.some((one) => one.digest.sha256 === digestHex(digest))) return null;
  return `the signature is over sha256:${data.subject[0]?.digest.sha256?.slice(0, 64)}`;
}

/** cosign's annotations say what a bundle says; from here on they are one (bundle v0.1, which asks for a promise). */
function readPayload(payload: Uint8Array, annotations: Readonly<Record<string, string>>): KeylessEvidence {
  const pem = annotations[CERTIFICATE];
  if (pem === undefined) throw new UnreadableEvidence("it is signed by a key, not keylessly");
  const certificate = new X509Certificate(pem);
  const bundle = bundleFromJSON({
    mediaType: "application/vnd.dev.sigstore.bundle+json;version=0.1",
    verificationMaterial: {
      x509CertificateChain: { certificates: [{ rawBytes: certificate.raw.toString("base64") }] },
      tlogEntries: logEntries(annotations[LOG_ENTRY]),
      timestampVerificationData: { rfc3161Timestamps: timestamps(annotations[TIMESTAMP]) },
    },
    messageSignature: {
      messageDigest: {
        algorithm: "SHA2_256",
        digest: Buffer.from(digestHex(digestOf(payload)), "hex").toString("base64"),
      },
      signature: annotations[SIGNATURE_ANNOTATION] ?? "",
    },
  });
  return {
    entity: toSignedEntity(bundle, Buffer.from(payload)),
    certificate,
    objection: (digest) => payloadObjection(payload, digest),
  };
}

function logEntries(text: string | undefined): object[] {
  if (text === undefined) return [];
  const { data } = logEntrySchema.safeParse(parseJson("the log entry", text));
  if (!data) throw new UnreadableEvidence("its log entry is malformed");
  const { body, integratedTime, logIndex, logID } = data.Payload;
  const kind = kindSchema.safeParse(parseJson("the log entry", Buffer.from(body, "base64").toString("utf8")));
  if (!kind.data) throw new UnreadableEvidence("its log entry is malformed");
  return [
    {
      logIndex: String(logIndex),
      logId: { keyId: Buffer.from(logID, "hex").toString("base64") },
      kindVersion: { kind: kind.data.kind, version: kind.data.apiVersion },
      integratedTime: String(integratedTime),
      inclusionPromise: { signedEntryTimestamp: data.SignedEntryTimestamp },
      canonicalizedBody: body,
    },
  ];
}

function timestamps(text: string | undefined): object[] {
  if (text === undefined) return [];
  const { data } = timestampSchema.safeParse(parseJson("the timestamp", text));
  if (!data) throw new UnreadableEvidence("its timestamp is malformed");
  return [{ signedTimestamp: data.SignedRFC3161Timestamp }];
}

function parseJson(what: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UnreadableEvidence(`${what} is not JSON`);
  }
}
