/** The key that signs installer images and files: ECDSA on P-256, read from a PEM file or made once. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  randomUUID,
  verify,
} from "node:crypto";
import { access, link, mkdir, open, readFile, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { p256 } from "@noble/curves/nist.js";
import { AppError } from "../errors/app-error.ts";
import { systemCode } from "../errors/system-code.ts";

const generate = promisify(generateKeyPair);
const PROBE = Buffer.from("casthouse self-test");

export interface OciSigningKey {
  /** SubjectPublicKeyInfo as PEM. */
  publicKeyPem: string;
  /** Base64 SHA-256 of the public key in DER: the hint by which Sigstore tools tell keys apart. */
  hint: string;
  /** ECDSA signature (ASN.1 DER, RFC 3279 §2.2.3) over a SHA-256. Equal digests give equal signatures (RFC 6979). */
  signDigest: (sha256: Uint8Array) => Uint8Array;
}

export interface OciSigningKeySource {
  /** PEM: PKCS#8 or SEC1, not encrypted. */
  file: string;
  /** Make the key when the file is not there. */
  create: boolean;
}

/** The key of the source, made first when the source says so. Rejects with invalid_input that names the file at fault. */
export async function openOciSigningKey(source: OciSigningKeySource): Promise<OciSigningKey> {
  if (source.create) await ensureOciSigningKey(source.file);
  const text = await readFile(source.file, "utf8").catch((cause: unknown) => {
    throw wrong(
      `the OCI signing key ${source.file} cannot be read (${systemCode(cause) ?? "unknown reason"})`,
      cause,
    );
  });
  return parseOciSigningKey(text, source.file);
}

/** The key in a PEM text, proved by signing and checking a probe; `name` is what errors call it. */
export function parseOciSigningKey(pem: string, name: string): OciSigningKey {
  const key = parsePrivateKey(pem, name);
  const publicKey = createPublicKey(key);
  const secret = Buffer.from(key.export({ format: "jwk" }).d ?? "", "base64url");
  const signDigest = (sha256: Uint8Array) =>
    p256.sign(sha256, secret, { prehash: false, lowS: false, format: "der" });
  // What the pure implementation signs, the one of the platform must accept.
  if (!verify("sha256", PROBE, publicKey, signDigest(createHash("sha256").update(PROBE).digest()))) {
    throw wrong(`the OCI signing key ${name} cannot sign`);
  }
  const der = publicKey.export({ type: "spki", format: "der" });
  return {
    publicKeyPem: String(publicKey.export({ type: "spki", format: "pem" })),
    hint: createHash("sha256").update(der).digest("base64"),
    signDigest,
  };
}

function parsePrivateKey(pem: string, name: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch (cause) {
    throw wrong(`the OCI signing key ${name} is not an unencrypted private key in PEM`, cause);
  }
  if (key.asymmetricKeyType !== "ec" || key.asymmetricKeyDetails?.namedCurve !== "prime256v1") {
    const found = key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType;
    throw wrong(`the OCI signing key ${name} is ${found}, not ECDSA on P-256`);
  }
  return key;
}

/** Makes the file unless it is there; of several processes that start together one wins and the others use its key. */
async function ensureOciSigningKey(file: string): Promise<void> {
  const folder = dirname(file);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (await exists(file)) return;
  const { privateKey } = await generate("ec", { namedCurve: "P-256" });
  const fresh = `${file}.new-${randomUUID()}`;
  try {
    const handle = await open(fresh, "wx", 0o600);
    try {
      await handle.writeFile(privateKey.export({ type: "pkcs8", format: "pem" }));
      await handle.sync();
    } finally {
      await handle.close();
    }
    // A second name never replaces a file, so the first process wins and no one sees half a key.
    await link(fresh, file).catch((error: unknown) => {
      if (systemCode(error) !== "EEXIST") throw error;
    });
    const handleOfFolder = await open(folder, "r");
    await handleOfFolder.sync().finally(() => handleOfFolder.close());
  } finally {
    await unlink(fresh).catch(() => undefined);
  }
}

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

const wrong = (message: string, cause?: unknown): AppError =>
  new AppError("invalid_input", message, {
    hint: "OCI_SIGNING_KEY wants a file made by: openssl ecparam -name prime256v1 -genkey -noout -out oci-signing.key",
    retryable: false,
    ...(cause === undefined ? {} : { cause }),
  });
