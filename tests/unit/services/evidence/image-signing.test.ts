/** Signatures of images and files: checked by openssl, by sigstore's own verifier and by our check of source images. */
import { execFileSync } from "node:child_process";
import { createHash, createPublicKey, generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BundleWithDsseEnvelope, bundleFromJSON } from "@sigstore/bundle";
import { toSignedEntity, toTrustMaterial, Verifier } from "@sigstore/verify";
import { afterAll, describe, expect, it } from "vitest";
import { parseOciSigningKey } from "../../../../lib/keys/oci-signing-key.ts";
import { fileBundle } from "../../../../lib/keys/sigstore-bundle.ts";
import { keyRule } from "../../../../lib/oci/signature-key.ts";
import { createImageSigning } from "../../../../lib/services/evidence/image-signing.ts";

const dir = mkdtempSync(join(tmpdir(), "image-signing-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const pem = String(
  generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" }),
);
const key = parseOciSigningKey(pem, "test");
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest();
const image = {
  mediaType: "application/vnd.oci.image.index.v1+json",
  digest: `sha256:${"ab".repeat(32)}`,
  size: 123,
  reference: "factory.test/installer/abc",
};
const evidence = createImageSigning(key).sign(image);
const blobs = new Map(evidence.blobs.map((blob) => [blob.digest, blob.bytes]));

/** Output of openssl; "Verified OK" or the reason why not. */
function openssl(signature: Uint8Array, data: Uint8Array): string {
  const files = { "key.pem": key.publicKeyPem, signature, data };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(dir, name), content);
  const args = ["dgst", "-sha256", "-verify", "key.pem", "-signature", "signature", "data"];
  try {
    return execFileSync("openssl", args, { cwd: dir, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    return `refused: ${error instanceof Error && "stdout" in error ? String(error.stdout) : ""}`;
  }
}

function sigstoreVerify(json: unknown, artifact?: Uint8Array): void {
  const publicKey = () => ({ publicKey: createPublicKey(key.publicKeyPem), validFor: () => true });
  const trust = toTrustMaterial(
    { mediaType: "", tlogs: [], certificateAuthorities: [], ctlogs: [], timestampAuthorities: [] },
    publicKey,
  );
  const verifier = new Verifier(trust, { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 });
  verifier.verify(toSignedEntity(bundleFromJSON(json), artifact && Buffer.from(artifact)));
}

const flipped = (bytes: Uint8Array): Uint8Array => {
  const copy = Uint8Array.from(bytes);
  copy[copy.length >> 1] = (copy[copy.length >> 1] ?? 0) ^ 1;
  return copy;
};

const parsed = (bytes: Uint8Array | undefined) => JSON.parse(Buffer.from(bytes ?? []).toString());

describe("a file's bundle", () => {
  const file = Buffer.from("any file");
  const bundle = parsed(fileBundle(sha256(file), key));

  it("is accepted by openssl and sigstore, for these bytes only", () => {
    const signature = Buffer.from(bundle.messageSignature.signature, "base64");
    expect(openssl(signature, file)).toContain("Verified OK");
    expect(openssl(signature, flipped(file))).toContain("refused");
    sigstoreVerify(bundle, file);
    expect(() => sigstoreVerify(bundle, flipped(file))).toThrow();
  });

  it("has the shape of v0.3 with the hint of the key", () => {
    expect(bundle.mediaType).toBe("application/vnd.dev.sigstore.bundle.v0.3+json");
    expect(bundle.verificationMaterial.publicKey).toEqual({ hint: key.hint });
    expect(bundle.messageSignature.messageDigest).toEqual({
      algorithm: "SHA2_256",
      digest: sha256(file).toString("base64"),
    });
  });
});

describe("the evidence of an image", () => {
  it("is whole: manifests hash to their digests and name only blobs that come with them", () => {
    for (const { digest, bytes } of [...evidence.manifests, ...evidence.blobs])
      expect(digest).toBe(`sha256:${sha256(bytes).toString("hex")}`);
    for (const manifest of evidence.manifests) {
      const { config, layers } = parsed(manifest.bytes);
      for (const { digest, size } of [config, ...layers]) expect(blobs.get(digest)?.length).toBe(size);
    }
  });

  it("holds a signature under cosign's tag that openssl and our own check of source images accept", async () => {
    const [tag] = evidence.tags;
    expect(tag?.tag).toBe(`sha256-${"ab".repeat(32)}.sig`);
    const manifest = parsed(evidence.manifests.find(({ digest }) => digest === tag?.digest)?.bytes);
    const [layer] = manifest.layers;
    expect(layer.mediaType).toBe("application/vnd.dev.cosign.simplesigning.v1+json");
    const payload = blobs.get(layer.digest) ?? new Uint8Array();
    const signature = layer.annotations["dev.cosignproject.cosign/signature"];
    expect(openssl(Buffer.from(signature, "base64"), payload)).toContain("Verified OK");
    expect(openssl(Buffer.from(signature, "base64"), flipped(payload))).toContain("refused");
    const file = join(dir, "cosign.pub");
    writeFileSync(file, key.publicKeyPem);
    const { annotations } = layer;
    expect(await keyRule(file).check(image.digest, { form: "payload", payload, annotations })).toBeNull();
    expect(parsed(payload).critical.identity["docker-reference"]).toBe(image.reference);
  });

  it("holds a bundle that refers to the image and that sigstore accepts", () => {
    const manifest = evidence.manifests.find(({ subject }) => subject !== null);
    const document = parsed(manifest?.bytes);
    expect(document.subject).toEqual({ mediaType: image.mediaType, size: 123, digest: image.digest });
    expect([document.artifactType, manifest?.artifactType, document.layers[0].mediaType]).toEqual(
      Array(3).fill("application/vnd.dev.sigstore.bundle.v0.3+json"),
    );
    const bundle = parsed(blobs.get(document.layers[0].digest));
    sigstoreVerify(bundle);
    expect(bundle.dsseEnvelope.signatures).toEqual([{ sig: expect.any(String) }]);
    const { content } = bundleFromJSON(bundle) as BundleWithDsseEnvelope;
    const statement = parsed(content.dsseEnvelope.payload);
    expect(statement.subject).toEqual([{ digest: { sha256: "ab".repeat(32) } }]);
    expect(statement.predicateType).toBe("https://sigstore.dev/cosign/sign/v1");
    bundle.dsseEnvelope.payload = Buffer.from(flipped(content.dsseEnvelope.payload)).toString("base64");
    expect(() => sigstoreVerify(bundle)).toThrow();
  });

  it("is the same however often and wherever it is made", () => {
    const again = createImageSigning(parseOciSigningKey(pem, "elsewhere")).sign(image);
    expect(again).toEqual(evidence);
  });
});
