import { execFile, fork } from "node:child_process";
import { createHash, createPrivateKey, createPublicKey, verify, X509Certificate } from "node:crypto";
import { chmod, mkdtemp, readdir, readFile, rm, stat, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { databasePaths } from "../../../lib/domain/secureboot-input.ts";
import { authVariable, SECURE_BOOT_VARIABLES } from "../../../lib/formats/efi-auth.ts";
import { signatureLists } from "../../../lib/formats/efi-signature-list.ts";
import { ensureKeys, keyFilesIn } from "../../../lib/keys/create-keys.ts";
import { openSecureBootKeys } from "../../../lib/keys/open-keys.ts";
import { readSecureBootKeys } from "../../../lib/keys/read-keys.ts";
import { createLogger } from "../../../lib/log/logger.ts";
import { createKeyService } from "../../../lib/services/evidence/keys.ts";
import { copyOfKeys, type TestKeys, testKeys } from "../../fixtures/secure-boot.ts";

const execute = promisify(execFile);
const log = createLogger({ process: "web", level: "silent", pretty: false });
const OWNER = "11111111-2222-4333-8444-555555555555";

let dir: string;
let made: TestKeys;
let mine: TestKeys;
let other: TestKeys;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "keys-"));
  [made, other] = [await testKeys(dir), await testKeys(dir)];
});
beforeEach(async () => {
  mine = await copyOfKeys(made, dir);
});
afterAll(() => rm(dir, { recursive: true, force: true }));

describe("keys that are made", () => {
  it("are readable by their owner only, and the certificate by all", async () => {
    const mode = async (file: string) => ((await stat(file)).mode & 0o777).toString(8);
    expect(await mode(mine.folder)).toBe("700");
    expect(await mode(mine.files.signingKey)).toBe("600");
    expect(await mode(mine.files.pcrKey)).toBe("600");
    expect(await mode(mine.files.signingCertificate)).toBe("644");
  });

  it("have a certificate that openssl takes: version 3, self-signed, allowed to sign, for twenty years", async () => {
    const file = mine.files.signingCertificate;
    const { stdout } = await execute("openssl", ["x509", "-in", file, "-noout", "-text"]);
    for (const text of [
      ...["Version: 3", "sha256WithRSAEncryption", "Public-Key: (2048 bit)", "CA:TRUE"],
      ...[
        "Digital Signature, Certificate Sign",
        "Not Before: Jan  1 00:00:00 2026",
        "Not After : Jan  1 00:00:00 2046",
      ],
    ])
      expect(stdout).toContain(text);
    expect((await execute("openssl", ["verify", "-CAfile", file, file])).stdout).toContain("OK");
    const certificate = new X509Certificate(await readFile(file));
    expect(certificate.verify(certificate.publicKey)).toBe(true);
  });

  it("are made once", async () => {
    const before = await readFile(mine.files.signingKey, "utf8");
    expect(await ensureKeys(mine.folder, new Date())).toBe(false);
    expect(await readFile(mine.files.signingKey, "utf8")).toBe(before);
  });

  it("are the same for processes that start together, one of which makes them", async () => {
    const folder = join(dir, "together", "secureboot");
    const script = join(dir, "ensure.mts");
    const module = new URL("../../../lib/keys/create-keys.ts", import.meta.url).pathname;
    await writeFile(
      script,
      `import { ensureKeys } from ${JSON.stringify(module)};
       process.send?.(await ensureKeys(${JSON.stringify(folder)}, new Date()));`,
    );
    const start = () =>
      new Promise<unknown>((resolve, reject) => {
        const child = fork(script, { execArgv: ["--import", "tsx"], stdio: "inherit" });
        child.on("error", reject);
        child.on("exit", (code) => reject(new Error(`the child ended with ${code}`)));
        child.on("message", resolve);
      });
    const made = await Promise.all([start(), start(), start(), start()]);
    expect(made.filter((one) => one === true)).toHaveLength(1);
    expect(await readdir(dirname(folder))).toEqual(["secureboot"]);
    await readSecureBootKeys(keyFilesIn(folder));
  });

  it("leave nothing half made when they cannot be stored", async () => {
    const file = join(dir, "a-file");
    await writeFile(file, "");
    await expect(ensureKeys(join(file, "secureboot"), new Date())).rejects.toThrow();
  });
});

describe("the self-test", () => {
  const read = (changes: Partial<TestKeys["files"]>) => readSecureBootKeys({ ...mine.files, ...changes });

  it("accepts what belongs together, in PKCS#1 and PKCS#8", async () => {
    const pkcs8 = join(mine.folder, "pkcs8.pem");
    const key = createPrivateKey(await readFile(mine.files.signingKey));
    expect(await readFile(mine.files.signingKey, "utf8")).toContain("BEGIN RSA PRIVATE KEY");
    await writeFile(pkcs8, key.export({ type: "pkcs8", format: "pem" }));
    expect((await read({ signingKey: pkcs8 })).identity).toEqual(mine.keys.identity);
  });

  it.each([
    ["another key", { key: () => other.files.signingKey }, /certificate \S+mine\S* does not belong/],
    [
      "no key file",
      { key: () => join(dir, "absent.pem") },
      /signing key \S+absent\.pem cannot be read \(ENOENT\)/,
    ],
    [
      "a certificate in its place",
      { key: () => other.files.signingCertificate },
      /not an unencrypted private key/,
    ],
  ])("refuses %s and names the file", async (_name, { key }, message) => {
    const expected = new RegExp(message.source.replace("\\S+mine\\S*", mine.files.signingCertificate));
    await expect(read({ signingKey: key() })).rejects.toThrow(expected);
  });

  it("refuses keys of other kinds and sizes", async () => {
    const file = join(dir, "other.pem");
    for (const args of [
      ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
      ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"],
    ]) {
      await execute("openssl", [...args, "-out", file]);
      await expect(read({ pcrKey: file })).rejects.toThrow(
        `PCR key ${file} is not an RSA key of 2048 to 4096 bits`,
      );
    }
  });

  it("refuses a certificate that is none", async () => {
    await expect(read({ signingCertificate: mine.files.pcrKey })).rejects.toThrow(
      "is not an X.509 certificate in PEM",
    );
  });
});

describe("ready-made databases", () => {
  const write = async (names: readonly ("PK" | "KEK" | "db")[], holder: TestKeys) => {
    for (const name of names) {
      const lists = signatureLists([{ owner: OWNER, certificate: holder.keys.certificate }]);
      await writeFile(join(mine.folder, `${name}.auth`), authVariable(name, lists, 1, holder.keys));
    }
  };

  it("are taken when all three are there, and change what the keys are called", async () => {
    await write(SECURE_BOOT_VARIABLES, mine);
    const keys = await readSecureBootKeys(mine.files);
    expect(Object.keys(keys.databases ?? {})).toEqual(["PK", "KEK", "db"]);
    expect(mine.keys.identity.databases).toBeNull();
    expect(keys.identity.databases).toMatch(/^[0-9a-f]{64}$/);
  });

  it("are refused when one is missing, and it is named", async () => {
    await write(["PK", "db"], mine);
    await expect(readSecureBootKeys(mine.files)).rejects.toThrow(
      /holds SecureBoot databases, but not KEK\.auth/,
    );
  });

  it("are refused when db would not start what is signed here", async () => {
    await write(SECURE_BOOT_VARIABLES, other);
    await expect(readSecureBootKeys(mine.files)).rejects.toThrow(
      /db\.auth does not hold the signing certificate/,
    );
  });

  it("are refused when they are damaged", async () => {
    await write(SECURE_BOOT_VARIABLES, mine);
    await writeFile(join(mine.folder, "PK.auth"), "no such thing");
    await expect(readSecureBootKeys(mine.files)).rejects.toThrow(/PK\.auth is damaged/);
  });
});

describe("G110: ready-made databases in a profile", () => {
  it("name the two fields that are missing beside one", () => {
    expect(() => databasePaths({ platformKeyPath: "/PK.auth" })).toThrow(
      /keyExchangeKeyPath and signatureKeyPath missing/,
    );
  });

  it("are all or none", () => {
    expect(databasePaths({})).toBeNull();
    const all = { platformKeyPath: "a", keyExchangeKeyPath: "b", signatureKeyPath: "c" };
    expect(databasePaths(all)).toEqual(all);
  });
});

describe("what the keys do", () => {
  it("sign the same each time, verifiable by the public halves", () => {
    const bytes = Buffer.from("measured");
    const { keys } = mine;
    expect(keys.sign(bytes)).toEqual(keys.sign(bytes));
    expect(verify("sha256", bytes, new X509Certificate(keys.certificate).publicKey, keys.sign(bytes))).toBe(
      true,
    );
    for (const bank of ["sha256", "sha384", "sha512"] as const)
      expect(verify(bank, bytes, createPublicKey(keys.pcr.publicKeyPem), keys.pcr.sign(bank, bytes))).toBe(
        true,
      );
  });

  it("name the PCR key by its PKCS#1 form", () => {
    const der = createPublicKey(mine.keys.pcr.publicKeyPem).export({ type: "pkcs1", format: "der" });
    expect(Buffer.from(mine.keys.pcr.keyId).toString("hex")).toBe(
      createHash("sha256").update(der).digest("hex"),
    );
  });
});

describe("what is published", () => {
  it("is the certificate in both forms, or a sentence when SecureBoot is off", () => {
    const { pem, der } = createKeyService(mine.keys).signingCertificate();
    expect(new X509Certificate(pem).raw.equals(der)).toBe(true);
    expect(() => createKeyService(null).signingCertificate()).toThrow(
      expect.objectContaining({
        code: "not_found",
        message: expect.stringContaining("secure boot is disabled"),
      }),
    );
  });
});

describe("opening by configuration", () => {
  it("gives none when it is off", async () => {
    expect(await openSecureBootKeys({ kind: "off" }, log)).toBeNull();
  });

  it("makes them where it is told to, and fails when one of them has gone", async () => {
    const folder = join(dir, "opened", "secureboot");
    const first = await openSecureBootKeys({ kind: "created", folder }, log);
    const second = await openSecureBootKeys({ kind: "created", folder }, log);
    expect(second?.identity).toEqual(first?.identity);
    await chmod(folder, 0o700);
    await unlink(keyFilesIn(folder).pcrKey);
    await expect(openSecureBootKeys({ kind: "created", folder }, log)).rejects.toThrow(
      /pcr-key\.pem cannot be read/,
    );
  });
});
