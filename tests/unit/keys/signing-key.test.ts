/** The image signing key: which PEM files are taken, how one is made, and that openssl agrees with its signatures. */
import { createHash, generateKeyPairSync, verify } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { openOciSigningKey, parseOciSigningKey } from "../../../lib/keys/oci-signing-key.ts";

const dir = mkdtempSync(join(tmpdir(), "oci-key-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const sha256 = (text: string) => createHash("sha256").update(text).digest();
const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });

it.each(["pkcs8", "sec1"] as const)("takes a key in %s", (type) => {
  const key = parseOciSigningKey(String(privateKey.export({ type, format: "pem" })), "key.pem");
  const signature = key.signDigest(sha256("text"));
  expect(verify("sha256", Buffer.from("text"), key.publicKeyPem, signature)).toBe(true);
  expect(verify("sha256", Buffer.from("test"), key.publicKeyPem, signature)).toBe(false);
});

it("signs equal digests with equal bytes (RFC 6979, A.2.5, P-256 with SHA-256)", () => {
  const d = Buffer.from("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721", "hex");
  const sec1 = Buffer.concat([
    Buffer.from("30310201010420", "hex"),
    d,
    Buffer.from("a00a06082a8648ce3d030107", "hex"),
  ]);
  const pem = `-----BEGIN EC PRIVATE KEY-----\n${sec1.toString("base64")}\n-----END EC PRIVATE KEY-----\n`;
  const key = parseOciSigningKey(pem, "rfc.pem");
  expect(Buffer.from(key.signDigest(sha256("sample"))).toString("hex")).toBe(
    "3046022100efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716" +
      "022100f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8",
  );
});

it("names what is wrong with a file", async () => {
  const curve = generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey;
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  const pem = (key: typeof rsa) => String(key.export({ type: "pkcs8", format: "pem" }));
  expect(() => parseOciSigningKey(pem(curve), "a")).toThrow(
    "the OCI signing key a is secp384r1, not ECDSA on P-256",
  );
  expect(() => parseOciSigningKey(pem(rsa), "b")).toThrow("the OCI signing key b is rsa, not ECDSA on P-256");
  expect(() => parseOciSigningKey("text", "c")).toThrow(
    "the OCI signing key c is not an unencrypted private key",
  );
  const gone = join(dir, "gone.key");
  await expect(openOciSigningKey({ file: gone, create: false })).rejects.toThrow(
    `${gone} cannot be read (ENOENT)`,
  );
});

it("is made once, by one of many that start together, readable for its owner only", async () => {
  const file = join(dir, "keys", "oci-signing.key");
  const all = await Promise.all(Array.from({ length: 8 }, () => openOciSigningKey({ file, create: true })));
  expect(new Set(all.map((key) => key.publicKeyPem)).size).toBe(1);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(dir, "keys"))).toEqual(["oci-signing.key"]);
  const before = readFileSync(file, "utf8");
  await openOciSigningKey({ file, create: true });
  expect(readFileSync(file, "utf8")).toBe(before);
});
