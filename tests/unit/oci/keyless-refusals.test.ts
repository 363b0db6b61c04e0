import { afterAll, afterEach, beforeAll, test } from "vitest";
import { SIGNATURE_ANNOTATION } from "../../../lib/formats/image-signature.ts";
import { signedBundle, signedPayload } from "../../fixtures/keyless-signing.ts";
import {
  HOUR_MS,
  KeylessWorld,
  OTHER_DIGEST,
  REPOSITORY,
  type Refusal,
  since,
} from "../../fixtures/keyless-world.ts";
import { newKey } from "../../fixtures/private-sigstore.ts";
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

const OTHERS: Refusal[] = [
  ["nothing", () => undefined, "it has no signature"],
  [
    "a bundle of another image",
    (w, i) => w.asBundle(i, signedBundle(w.sigstore, OTHER_DIGEST)),
    "the signature is over sha256:000",
  ],
  [
    "a tag of another image",
    (w, i) => w.asTag(i, signedPayload(w.sigstore, REPOSITORY, OTHER_DIGEST)),
    "the signature is over sha256:000",
  ],
  [
    "a bill of materials",
    (w, i) =>
      w.asBundle(i, signedBundle(w.sigstore, i.digest, { predicateType: "https://spdx.dev/Document" })),
    "is no signature but https://spdx.dev/Document",
  ],
  [
    "a bundle of other authorities",
    (w, i) => w.asBundle(i, signedBundle(w.stranger, i.digest)),
    "its certificate is not trusted",
  ],
  [
    "a tag by other authorities",
    (w, i) => w.asTag(i, signedPayload(w.stranger, REPOSITORY, i.digest)),
    "its certificate is not trusted",
  ],
  ["no bundle", (w, i) => w.asBundle(i, { hello: "world" }), "it cannot be read"],
  [
    "a plain key's signature",
    (w, i) => {
      const { payload, annotations } = signedPayload(w.sigstore, REPOSITORY, i.digest);
      w.asTag(i, {
        payload,
        annotations: { [SIGNATURE_ANNOTATION]: annotations[SIGNATURE_ANNOTATION] ?? "" },
      });
    },
    "it is signed by a key, not keylessly",
  ],
];

const BOTH_FORMS: Refusal[] = (
  [
    ["somebody else", () => ({ email: "someone@example.org" }), "someone@example.org, who is not trusted"],
    [
      "a name that only contains the right one",
      () => ({ email: "a@siderolabs.com.example.org" }),
      "is not trusted",
    ],
    [
      "another issuer",
      () => ({ issuer: "https://accounts.example.org" }),
      "vouched for by https://accounts.example.org",
    ],
    [
      "a certificate without promise of the log",
      () => ({ ctLog: null }),
      "its certificate is not trusted (expected 1 SCTs",
    ],
    [
      "a promise of another log",
      () => ({ ctLog: newKey() }),
      "its certificate is not trusted (SCT verification failed",
    ],
    [
      "a certificate that had expired",
      () => since(2 * HOUR_MS),
      "certificate is not valid or expired at the specified date",
    ],
    [
      "a certificate that was not valid yet",
      () => since(-HOUR_MS),
      "not valid or expired at the specified date",
    ],
    [
      "a certificate for servers",
      () => ({ purpose: "1.3.6.1.5.5.7.3.1" }),
      "its certificate is not for signing",
    ],
    ["an entry of another log", () => ({ rekor: newKey() }), "its log entry is not proven"],
    [
      "an entry about another certificate",
      (w) => ({ loggedCertificate: w.sigstore.certificate(newKey().publicKey) }),
      "its log entry is about another certificate",
    ],
  ] satisfies [string, (world: KeylessWorld) => object, string][]
).flatMap(([what, wish, reason]): Refusal[] => [
  [`${what} (bundle)`, (w, i) => w.asBundle(i, signedBundle(w.sigstore, i.digest, wish(w))), reason],
  [`${what} (tag)`, (w, i) => w.asTag(i, signedPayload(w.sigstore, REPOSITORY, i.digest, wish(w))), reason],
]);

test.each([...OTHERS, ...BOTH_FORMS])(
  "an image with %s is refused everywhere",
  async (_what, prepare, reason) => {
    await world.expectRefusal(prepare, reason);
  },
);
