import { afterAll, afterEach, beforeAll, test } from "vitest";
import { SIGNATURE_ANNOTATION } from "../../../lib/formats/image-signature.ts";
import {
  type BundleJson,
  type SignedPayload,
  signedBundle,
  signedPayload,
} from "../../fixtures/keyless-signing.ts";
import {
  flip,
  HOUR_MS,
  KeylessWorld,
  OTHER_DIGEST,
  REPOSITORY,
  type Refusal,
  since,
} from "../../fixtures/keyless-world.ts";
import { removeScratch } from "../../fixtures/source-images.ts";

let world: KeylessWorld;
beforeAll(async () => {
  world = await KeylessWorld.start();
});
afterEach(async () => {
  world.fake.reset();
  await removeScratch();
});
afterAll(() => world.fake.stop());

/** A change of the bundle, as somebody between us and the registry could make it. */
function changed(
  world: KeylessWorld,
  digest: string,
  change: (bundle: BundleJson) => void,
  wish = {},
): BundleJson {
  const bundle = signedBundle(world.sigstore, digest, wish);
  change(bundle);
  return bundle;
}

const logEntryOf = (bundle: BundleJson) => {
  const [entry] = bundle.verificationMaterial.tlogEntries;
  if (!entry) throw new Error("a bundle without log entry");
  return entry;
};

function withAnnotation(
  signed: SignedPayload,
  name: string,
  change: (text: string) => string,
): SignedPayload {
  const annotations = { ...signed.annotations, [name]: change(signed.annotations[name] ?? "") };
  return { payload: signed.payload, annotations };
}

const LOG_ANNOTATION = "dev.sigstore.cosign/bundle";
const inLog =
  (change: (log: { SignedEntryTimestamp: string; Payload: Record<string, unknown> }) => void) =>
  (text: string) => {
    const log = JSON.parse(text);
    change(log);
    return JSON.stringify(log);
  };

const BUNDLES: Refusal[] = (
  [
    [
      "the log's promise is changed",
      (b) => {
        const entry = logEntryOf(b);
        if (entry.inclusionPromise)
          entry.inclusionPromise.signedEntryTimestamp = flip(entry.inclusionPromise.signedEntryTimestamp);
      },
      "inclusion promise could not be verified",
    ],
    [
      "the time of the log is changed",
      (b) => {
        logEntryOf(b).integratedTime = String(Number(logEntryOf(b).integratedTime) + 1);
      },
      "inclusion promise could not be verified",
    ],
    [
      "a node of the tree is changed",
      (b) => {
        const { hashes } = logEntryOf(b).inclusionProof;
        hashes[0] = flip(hashes[0] ?? "");
      },
      "calculated root hash does not match inclusion proof",
    ],
    [
      "the checkpoint is changed",
      (b) => {
        const { checkpoint } = logEntryOf(b).inclusionProof;
        checkpoint.envelope = checkpoint.envelope.replace("\n3\n", "\n4\n");
      },
      "invalid checkpoint signature",
    ],
    [
      "the checkpoint names itself by a pattern",
      (b) => {
        const { checkpoint } = logEntryOf(b).inclusionProof;
        checkpoint.envelope = checkpoint.envelope.replace(/\u2014 \S+/, "\u2014 ((.*)*)*x");
      },
      "its log entry has a strange checkpoint",
    ],
    [
      "there is no log entry",
      (b) => {
        b.verificationMaterial.tlogEntries = [];
      },
      "its time is not proven",
    ],
    [
      "the entry is of another signature",
      (b, digest, w) => {
        b.verificationMaterial.tlogEntries = signedBundle(
          w.sigstore,
          digest,
        ).verificationMaterial.tlogEntries;
      },
      "its log entry is about another certificate",
    ],
    [
      "the signature is changed",
      (b) => {
        const [signature] = b.dsseEnvelope.signatures;
        if (signature) signature.sig = flip(signature.sig);
      },
      "tlog entry signature mismatch",
    ],
    [
      "the statement is exchanged",
      (b, digest) => {
        b.dsseEnvelope.payload = Buffer.from(
          Buffer.from(b.dsseEnvelope.payload, "base64")
            .toString()
            .replace(OTHER_DIGEST.slice(7), digest.slice(7)),
        ).toString("base64");
      },
      "its log entry is about something else",
    ],
    [
      "the certificate is changed",
      (b) => {
        const { certificate } = b.verificationMaterial;
        certificate.rawBytes = flip(
          certificate.rawBytes,
          Buffer.from(certificate.rawBytes, "base64").length - 5,
        );
      },
      "its log entry is about another certificate",
    ],
  ] satisfies [string, (bundle: BundleJson, digest: string, world: KeylessWorld) => void, string][]
).map(
  ([what, change, reason]): Refusal => [
    `${what} (bundle)`,
    (w, i) => {
      const digest = what.includes("exchanged") ? OTHER_DIGEST : i.digest;
      w.asBundle(
        i,
        changed(w, digest, (bundle) => change(bundle, i.digest, w)),
      );
    },
    reason,
  ],
);

const STAMPED: Refusal[] = [
  [
    "a time stamp over another signature",
    (w, i) => {
      const stamps = signedBundle(w.sigstore, i.digest, { time: "timestamp" }).verificationMaterial;
      w.asBundle(
        i,
        changed(
          w,
          i.digest,
          (b) => {
            const { timestampVerificationData } = stamps;
            if (timestampVerificationData)
              b.verificationMaterial.timestampVerificationData = timestampVerificationData;
          },
          { time: "timestamp" },
        ),
      );
    },
    "its time is not proven",
  ],
  [
    "a time stamp after the certificate's end",
    (w, i) => w.asBundle(i, signedBundle(w.sigstore, i.digest, { ...since(2 * HOUR_MS), time: "timestamp" })),
    "not valid or expired at the specified date",
  ],
  [
    "a bundle without any time",
    (w, i) =>
      w.asBundle(
        i,
        changed(w, i.digest, (b) => delete b.verificationMaterial.timestampVerificationData, {
          time: "timestamp",
        }),
      ),
    "its time is not proven",
  ],
];

const TAGS: Refusal[] = [
  [
    "a tag whose signature is changed",
    (w, i) =>
      w.asTag(i, withAnnotation(signedPayload(w.sigstore, REPOSITORY, i.digest), SIGNATURE_ANNOTATION, flip)),
    "its log entry is about something else (signature mismatch)",
  ],
  [
    "a tag whose promise of the log is changed",
    (w, i) =>
      w.asTag(
        i,
        withAnnotation(
          signedPayload(w.sigstore, REPOSITORY, i.digest),
          LOG_ANNOTATION,
          inLog((log) => {
            log.SignedEntryTimestamp = flip(log.SignedEntryTimestamp);
          }),
        ),
      ),
    "inclusion promise could not be verified",
  ],
  [
    "a tag whose time in the log is changed",
    (w, i) =>
      w.asTag(
        i,
        withAnnotation(
          signedPayload(w.sigstore, REPOSITORY, i.digest),
          LOG_ANNOTATION,
          inLog((log) => {
            log.Payload.integratedTime = Number(log.Payload.integratedTime) - 1;
          }),
        ),
      ),
    "inclusion promise could not be verified",
  ],
  [
    "a tag with the log entry of another digest",
    (w, i) => {
      const other = signedPayload(w.sigstore, REPOSITORY, OTHER_DIGEST).annotations[LOG_ANNOTATION] ?? "";
      w.asTag(
        i,
        withAnnotation(signedPayload(w.sigstore, REPOSITORY, i.digest), LOG_ANNOTATION, () => other),
      );
    },
    "its log entry is about another certificate",
  ],
  [
    "a tag without log entry",
    (w, i) =>
      w.asTag(
        i,
        withAnnotation(signedPayload(w.sigstore, REPOSITORY, i.digest), LOG_ANNOTATION, () => "{}"),
      ),
    "its log entry is malformed",
  ],
  [
    "a tag whose signed payload is exchanged",
    (w, i) => {
      const { annotations } = signedPayload(w.sigstore, REPOSITORY, OTHER_DIGEST);
      w.asTag(i, { payload: signedPayload(w.sigstore, REPOSITORY, i.digest).payload, annotations });
    },
    "its log entry is about something else (digest mismatch)",
  ],
];

test.each([...BUNDLES, ...STAMPED, ...TAGS])(
  "an image with %s is refused everywhere",
  async (_what, prepare, reason) => {
    await world.expectRefusal(prepare, reason);
  },
);
