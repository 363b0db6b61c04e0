/** Makes SecureBoot keys once, for a factory that runs on one machine and has been given none. */
import {
  createHash,
  createPrivateKey,
  generateKeyPair,
  type KeyObject,
  randomBytes,
  sign,
} from "node:crypto";
import { access, mkdir, mkdtemp, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { pemText } from "../formats/pem.ts";
import { selfSignedCertificate } from "../formats/x509.ts";
import type { KeyFiles } from "./types.ts";

const generate = promisify(generateKeyPair);

/** What every firmware takes (UEFI 2.10 §32.4.1) and TPMs verify. */
const BITS = 2048;
const YEARS = 20;

/** Names of the files in the folder of created keys. */
export const keyFilesIn = (folder: string): KeyFiles => ({
  signingKey: join(folder, "signing-key.pem"),
  signingCertificate: join(folder, "signing-cert.pem"),
  pcrKey: join(folder, "pcr-key.pem"),
});

/**
 * Makes sure that `folder` holds a signing key, its certificate and a PCR key; gives true when this call made them.
 * The folder appears whole or not at all; of several processes that start together one wins and the others use its keys.
 * `now` is the first day of the certificate.
 */
export async function ensureKeys(folder: string, now: Date): Promise<boolean> {
  if (await exists(folder)) return false;
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  const fresh = await mkdtemp(`${folder}.new-`);
  try {
    await writeKeys(keyFilesIn(fresh), now);
    await syncFolder(fresh);
    await rename(fresh, folder);
    await syncFolder(dirname(folder));
    return true;
  } catch (error) {
    if (await exists(folder)) return false;
    throw error;
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

async function writeKeys(files: KeyFiles, now: Date): Promise<void> {
  const signing = await newKey();
  const pcr = await newKey();
  await writeSecret(files.signingKey, signing.pem, 0o600);
  await writeSecret(files.pcrKey, pcr.pem, 0o600);
  const certificate = certificateFor(createPrivateKey(signing.pem), signing.publicKey, now);
  await writeSecret(files.signingCertificate, pemText("CERTIFICATE", certificate), 0o644);
}

async function newKey(): Promise<{ pem: string; publicKey: Buffer }> {
  const { privateKey, publicKey } = await generate("rsa", {
    modulusLength: BITS,
    publicKeyEncoding: { type: "spki", format: "der" },
    // The form that other tools for these keys insist on.
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
  });
  return { pem: privateKey, publicKey };
}

function certificateFor(key: KeyObject, publicKey: Uint8Array, now: Date): Uint8Array {
  const notAfter = new Date(now);
  notAfter.setUTCFullYear(now.getUTCFullYear() + YEARS);
  return selfSignedCertificate(
    {
      commonName: "Casthouse SecureBoot signing key",
      serial: randomBytes(16),
      notBefore: now,
      notAfter,
      publicKey,
      keyId: createHash("sha1").update(publicKey).digest(),
    },
    (bytes) => sign("sha256", bytes, key),
  );
}

async function writeSecret(path: string, text: string, mode: number): Promise<void> {
  const file = await open(path, "wx", mode);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  await folder.sync().finally(() => folder.close());
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
