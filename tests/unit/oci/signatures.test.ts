import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { SIGNATURE_ANNOTATION, SIMPLE_SIGNING } from "../../../lib/formats/image-signature.ts";
import { signatureTag } from "../../../lib/oci/signature.ts";
import { type FakeImage, makeLayer } from "../../fixtures/fake-image.ts";
import { FakeRegistry } from "../../fixtures/fake-registry.ts";
import {
  failure,
  openSource,
  removeScratch,
  scratchFolder,
  type TestSource,
} from "../../fixtures/source-images.ts";

const REPOSITORY = "siderolabs/imager";
let fake: FakeRegistry;
beforeAll(async () => {
  fake = await FakeRegistry.start();
});
afterEach(async () => {
  fake.reset();
  await removeScratch();
});
afterAll(() => fake.stop());

const pair = (kind: string) =>
  kind === "rsa"
    ? generateKeyPairSync("rsa", { modulusLength: 2048 })
    : kind === "ed25519"
      ? generateKeyPairSync("ed25519")
      : generateKeyPairSync("ec", { namedCurve: kind });

/** The payload as cosign writes it. */
function payloadFor(digest: string, type = "cosign container image signature"): Buffer {
  return Buffer.from(
    JSON.stringify({
      critical: {
        identity: { "docker-reference": `ghcr.io/${REPOSITORY}` },
        image: { "docker-manifest-digest": digest },
        type,
      },
      optional: null,
    }),
  );
}

function pushSignature(image: FakeImage, privateKey: KeyObject, payload: Buffer): void {
  const algorithm = privateKey.asymmetricKeyType === "ed25519" ? null : "sha256";
  fake.push(REPOSITORY, signatureTag(image.digest), {
    layers: [payload],
    layerMediaType: SIMPLE_SIGNING,
    layerAnnotations: { [SIGNATURE_ANNOTATION]: sign(algorithm, payload, privateKey).toString("base64") },
  });
}

async function openWithKey(publicKey: KeyObject, cacheDir?: string): Promise<TestSource> {
  const file = join(await scratchFolder(), "cosign.pub");
  await writeFile(file, publicKey.export({ type: "spki", format: "pem" }));
  return openSource(fake.url, { verify: { kind: "key", file }, ...(cacheDir ? { cacheDir } : {}) });
}

const pushImage = async () =>
  fake.push(REPOSITORY, "v1.0.0", {
    layers: [await makeLayer([{ name: "usr/install/amd64/vmlinuz", content: "kernel" }])],
    arches: ["amd64", "arm64"],
  });

describe("with SOURCE_VERIFY=key", () => {
  test.each(["prime256v1", "secp384r1", "rsa", "ed25519"])(
    "an image signed by the key (%s) is used",
    async (kind) => {
      const { publicKey, privateKey } = pair(kind);
      const image = await pushImage();
      pushSignature(image, privateKey, payloadFor(image.digest));
      const { images } = await openWithKey(publicKey);
      expect(await images.resolveTag(REPOSITORY, "v1.0.0")).toBe(image.digest);
      const dir = join(await scratchFolder(), "tree");
      await images.extract(REPOSITORY, image.digest, "amd64", dir);
      expect(await readFile(join(dir, "usr/install/amd64/vmlinuz"), "utf8")).toBe("kernel");
      expect(fake.count(/sha256-.*\.sig/)).toBe(1);
    },
  );

  test("a P-256 signature made outside this code is understood", async () => {
    // Made with: openssl ecparam -genkey -name prime256v1, openssl dgst -sha256 -sign.
    const { execFileSync } = await import("node:child_process");
    const dir = await scratchFolder();
    const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: dir, stdio: "pipe" });
    openssl("ecparam", "-genkey", "-noout", "-name", "prime256v1", "-out", "key.pem");
    openssl("ec", "-in", "key.pem", "-pubout", "-out", "pub.pem");
    const image = await pushImage();
    await writeFile(join(dir, "payload"), payloadFor(image.digest));
    openssl("dgst", "-sha256", "-sign", "key.pem", "-out", "sig", "payload");
    fake.push(REPOSITORY, signatureTag(image.digest), {
      layers: [payloadFor(image.digest)],
      layerMediaType: SIMPLE_SIGNING,
      layerAnnotations: { [SIGNATURE_ANNOTATION]: (await readFile(join(dir, "sig"))).toString("base64") },
    });
    const verify = { kind: "key" as const, file: join(dir, "pub.pem") };
    const { images } = await openSource(fake.url, { verify });
    expect(await images.resolveTag(REPOSITORY, "v1.0.0")).toBe(image.digest);
  });

  test.each<[string, (image: FakeImage, own: KeyObject, other: KeyObject) => void, string]>([
    ["has no signature", () => undefined, "it has no signature"],
    [
      "is signed by another key",
      (image, _, other) => pushSignature(image, other, payloadFor(image.digest)),
      "not made by the configured key",
    ],
    [
      "is signed over another digest",
      (image, own) => pushSignature(image, own, payloadFor(`sha256:${"0".repeat(64)}`)),
      "the signature is over sha256:000",
    ],
    [
      "is signed as something else",
      (image, own) => pushSignature(image, own, payloadFor(image.digest, "atomic")),
      "not a container image signature",
    ],
    ["is signed over no JSON", (image, own) => pushSignature(image, own, Buffer.from("{")), "not JSON"],
  ])("an image that %s is refused everywhere", async (_what, prepare, reason) => {
    const own = pair("prime256v1");
    const image = await pushImage();
    prepare(image, own.privateKey, pair("prime256v1").privateKey);
    const { images } = await openWithKey(own.publicKey);
    const dir = join(await scratchFolder(), "tree");
    for (const attempt of [
      images.resolveTag(REPOSITORY, "v1.0.0"),
      images.platformManifest(REPOSITORY, image.digest, "amd64"),
      images.extract(REPOSITORY, image.digest, "amd64", dir),
    ]) {
      const error = await failure(attempt);
      expect(error.code).toBe("source_invalid");
      expect(error.message).toContain(`${REPOSITORY}@${image.digest}`);
      expect(error.message).toContain(reason);
    }
    await expect(readdir(dir)).rejects.toThrow("ENOENT");
  });

  test("the signature is checked again after a restart, without the registry", async () => {
    const { publicKey, privateKey } = pair("prime256v1");
    const image = await pushImage();
    pushSignature(image, privateKey, payloadFor(image.digest));
    const cacheDir = await scratchFolder();
    await (await openWithKey(publicKey, cacheDir)).images.platformManifest(REPOSITORY, image.digest, "amd64");
    fake.switches.down = true;
    const again = await openWithKey(publicKey, cacheDir);
    await again.images.platformManifest(REPOSITORY, image.digest, "amd64");
    const other = await openWithKey(pair("prime256v1").publicKey, cacheDir);
    const error = await failure(other.images.platformManifest(REPOSITORY, image.digest, "amd64"));
    expect(error.code).toBe("upstream_unavailable");
  });

  test.each([
    ["a private key", () => pair("prime256v1").privateKey.export({ type: "pkcs8", format: "pem" })],
    ["no key", () => "hello"],
    [
      "an unsupported key",
      () => generateKeyPairSync("x25519").publicKey.export({ type: "spki", format: "pem" }),
    ],
  ])("%s in the file is refused at start, naming the file", async (_what, text) => {
    const file = join(await scratchFolder(), "some.pub");
    await writeFile(file, text());
    const error = await failure(openSource(fake.url, { verify: { kind: "key", file } }));
    expect(error.code).toBe("invalid_input");
    expect(error.message).toContain(file);
  });
});

test("with SOURCE_VERIFY=off an unsigned image is used", async () => {
  const image = await pushImage();
  const { images } = await openSource(fake.url);
  expect(await images.resolveTag(REPOSITORY, "v1.0.0")).toBe(image.digest);
  expect(fake.count(/\.sig/)).toBe(0);
});
