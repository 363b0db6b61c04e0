/** Reads SecureBoot keys from PEM files and proves, before anything is signed, that they belong together. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign,
  verify,
  X509Certificate,
} from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AppError } from "../errors/app-error.ts";
import { systemCode } from "../errors/system-code.ts";
import { authPayload, SECURE_BOOT_VARIABLES } from "../formats/efi-auth.ts";
import { readSignatureLists } from "../formats/efi-signature-list.ts";
import { PCR_BANKS, type PcrBank } from "../formats/pcr-policy.ts";
import { pemText } from "../formats/pem.ts";
import type { KeyDatabases, KeyFiles, SecureBootKeys } from "./types.ts";

/** Firmware has to take RSA with 2048 bits (UEFI 2.10 §32.4.1); less is not safe, more than 4096 not supported. */
const BITS = { least: 2048, most: 4096 };
const PROBE = Buffer.from("casthouse self-test");

/**
 * The keys in `files`, proved by signing and checking a probe with each. PKCS#1 and PKCS#8 are read. PK.auth, KEK.auth
 * and db.auth beside the certificate are taken too, all three or none; db must hold the certificate. Rejects with
 * invalid_input that names the file at fault.
 */
export async function readSecureBootKeys(files: KeyFiles): Promise<SecureBootKeys> {
  const signingKey = await readPrivateKey("signing key", files.signingKey);
  const certificate = await readCertificate(files.signingCertificate);
  if (!signProves(signingKey, certificate.publicKey, "sha256")) {
    throw wrong(
      `the SecureBoot certificate ${files.signingCertificate} does not belong to the key ${files.signingKey}`,
    );
  }
  const pcrKey = await readPrivateKey("PCR key", files.pcrKey);
  const pcrPublic = createPublicKey(pcrKey);
  if (!PCR_BANKS.every((bank) => signProves(pcrKey, pcrPublic, bank)))
    throw wrong(`the SecureBoot PCR key ${files.pcrKey} cannot sign`);
  const folder = dirname(files.signingCertificate);
  const databases = await readDatabases(files.databases ?? databasesIn(folder), certificate.raw);
  return {
    identity: {
      certificate: sha256Hex(certificate.raw),
      pcrKey: sha256Hex(pcrPublic.export({ type: "spki", format: "der" })),
      databases: databases && sha256Hex(...SECURE_BOOT_VARIABLES.map((name) => sha256(databases[name]))),
    },
    certificate: new Uint8Array(certificate.raw),
    certificatePem: pemText("CERTIFICATE", certificate.raw),
    sign: (bytes) => signWith(signingKey, "sha256", bytes),
    pcr: {
      publicKeyPem: String(pcrPublic.export({ type: "spki", format: "pem" })),
      keyId: sha256(pcrPublic.export({ type: "pkcs1", format: "der" })),
      sign: (bank, bytes) => signWith(pcrKey, bank, bytes),
    },
    databases,
  };
}

async function readPrivateKey(what: string, file: string): Promise<KeyObject> {
  const text = await readKeyFile(what, file);
  let key: KeyObject;
  try {
    key = createPrivateKey(text);
  } catch (cause) {
    throw wrong(`the SecureBoot ${what} ${file} is not an unencrypted private key in PEM`, cause);
  }
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (key.asymmetricKeyType !== "rsa" || bits < BITS.least || bits > BITS.most) {
    throw wrong(`the SecureBoot ${what} ${file} is not an RSA key of ${BITS.least} to ${BITS.most} bits`);
  }
  return key;
}

async function readCertificate(file: string): Promise<X509Certificate> {
  const text = await readKeyFile("certificate", file);
  try {
    return new X509Certificate(text);
  } catch (cause) {
    throw wrong(`the SecureBoot certificate ${file} is not an X.509 certificate in PEM`, cause);
  }
}

async function readKeyFile(what: string, file: string): Promise<Buffer> {
  return await readFile(file).catch((cause: unknown) => {
    throw wrong(
      `the SecureBoot ${what} ${file} cannot be read (${systemCode(cause) ?? "unknown reason"})`,
      cause,
    );
  });
}

type DatabaseFiles = NonNullable<KeyFiles["databases"]>;

const databasesIn = (folder: string): DatabaseFiles => ({
  PK: join(folder, "PK.auth"),
  KEK: join(folder, "KEK.auth"),
  db: join(folder, "db.auth"),
});

async function readDatabases(files: DatabaseFiles, certificate: Uint8Array): Promise<KeyDatabases | null> {
  const [PK, KEK, db] = await Promise.all(SECURE_BOOT_VARIABLES.map((name) => readIfThere(files[name])));
  if (PK && KEK && db) {
    const databases = { PK, KEK, db };
    for (const name of SECURE_BOOT_VARIABLES) checkDatabase(databases[name], files[name]);
    const allowed = readSignatureLists(authPayload(db)).some((entry) =>
      certificate.every((b, i) => entry.certificate[i] === b),
    );
    if (allowed) return databases;
    throw wrong(`the SecureBoot database ${files.db} does not hold the signing certificate`);
  }
  if (!PK && !KEK && !db) return null;
  const missing = SECURE_BOOT_VARIABLES.filter((_, index) => ![PK, KEK, db][index]).map(
    (name) => `${name}.auth`,
  );
  throw wrong(`the folder ${dirname(files.db)} holds SecureBoot databases, but not ${missing.join(" and ")}`);
}

async function readIfThere(file: string): Promise<Uint8Array | null> {
  return await readFile(file).then(
    (bytes) => new Uint8Array(bytes),
    (cause: unknown) => {
      if (systemCode(cause) === "ENOENT") return null;
      throw wrong(
        `the SecureBoot database ${file} cannot be read (${systemCode(cause) ?? "unknown reason"})`,
        cause,
      );
    },
  );
}

function checkDatabase(file: Uint8Array, path: string): void {
  try {
    if (readSignatureLists(authPayload(file)).length > 0) return;
  } catch (cause) {
    throw wrong(`the SecureBoot database ${path} is damaged`, cause);
  }
  throw wrong(`the SecureBoot database ${path} holds no certificate`);
}

const signWith = (key: KeyObject, hash: PcrBank, bytes: Uint8Array): Uint8Array =>
  new Uint8Array(sign(hash, bytes, key));

const signProves = (key: KeyObject, publicKey: KeyObject, hash: PcrBank): boolean =>
  publicKey.asymmetricKeyType === "rsa" && verify(hash, PROBE, publicKey, signWith(key, hash, PROBE));

const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash("sha256").update(bytes).digest());

function sha256Hex(...parts: Uint8Array[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

const wrong = (message: string, cause?: unknown): AppError =>
  new AppError("invalid_input", message, {
    hint: "docs/secureboot.md says which files SecureBoot needs.",
    retryable: false,
    ...(cause === undefined ? {} : { cause }),
  });
