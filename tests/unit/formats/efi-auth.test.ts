import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { bytesToHex } from "@noble/hashes/utils.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { authPayload, authVariable, SECURE_BOOT_VARIABLES } from "../../../lib/formats/efi-auth.ts";
import {
  certificateOwner,
  readSignatureLists,
  signatureLists,
} from "../../../lib/formats/efi-signature-list.ts";
import { MICROSOFT_OWNER, wellKnownEntries } from "../../../lib/formats/well-known-certificates.ts";
import { type TestKeys, testKeys } from "../../fixtures/secure-boot.ts";

const execute = promisify(execFile);
const TIME = 1559424892;
const OWNER = "11111111-2222-4333-8444-555555555555";

let dir: string;
let signer: TestKeys;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "efi-auth-"));
  signer = await testKeys(dir);
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const own = () => ({ owner: OWNER, certificate: signer.keys.certificate });

describe("G109: .auth files", () => {
  it("have the certificate header and the type of the list where firmware looks for them", () => {
    const file = authVariable("PK", signatureLists([own()]), TIME, signer.keys);
    expect(bytesToHex(file.subarray(20, 24))).toBe("0002f10e");
    expect(bytesToHex(authPayload(file).subarray(0, 16))).toBe("a159c0a5e494a74a87b5ab155c2bf072");
    // 2019-06-01 21:34:52, everything behind the seconds zero.
    expect(bytesToHex(file.subarray(0, 16))).toBe("e30706011522340000000000000000".padEnd(32, "0"));
  });

  it("hold one certificate in PK, three in KEK and four in db with the well-known ones", () => {
    const count = (variable: "PK" | "KEK" | "db") => {
      const others = variable === "PK" ? [] : wellKnownEntries(variable);
      const file = authVariable(variable, signatureLists([own(), ...others]), TIME, signer.keys);
      return readSignatureLists(authPayload(file)).length;
    };
    expect(SECURE_BOOT_VARIABLES).toEqual(["PK", "db", "KEK"]);
    expect(SECURE_BOOT_VARIABLES.map(count)).toEqual([1, 4, 3]);
  });

  it("are what efitools makes of the same certificate and time", async () => {
    const lists = join(dir, "own.esl");
    await execute("cert-to-efi-sig-list", ["-g", OWNER, signer.files.signingCertificate, lists]);
    expect(signatureLists([own()])).toEqual(new Uint8Array(await readFile(lists)));
    for (const variable of SECURE_BOOT_VARIABLES) {
      const made = join(dir, `${variable}.auth`);
      // With another vendor or name than the signed one the bytes would differ.
      const files = ["-c", signer.files.signingCertificate, "-k", signer.files.signingKey];
      await execute("sign-efi-sig-list", ["-t", "2019-06-01 21:34:52", ...files, variable, lists, made], {
        env: { ...process.env, TZ: "UTC" },
      });
      const wanted = new Uint8Array(await readFile(made));
      const file = authVariable(variable, signatureLists([own()]), TIME, signer.keys);
      expect(bytesToHex(file), variable).toBe(bytesToHex(wanted));
    }
  });

  it("carry a signature that openssl verifies over the signed bytes, and over nothing else", async () => {
    const file = authVariable("db", signatureLists([own()]), TIME, signer.keys);
    const length = new DataView(file.buffer).getUint32(16, true);
    const name = Buffer.from("db", "utf16le");
    const vendor = Buffer.from("cbb219d73a3d9645a3bcdad00e67656f", "hex");
    const attributes = Buffer.from([0x27, 0, 0, 0]);
    const content = Buffer.concat([name, vendor, attributes, file.subarray(0, 16), authPayload(file)]);
    const signedData = file.subarray(40, 16 + length);
    // openssl wants the outer ContentInfo that UEFI leaves out.
    const size = signedData.length;
    const inner = Buffer.from([0xa0, 0x82, size >> 8, size & 255]);
    const oid = Buffer.from("06092a864886f70d010702", "hex");
    const outer = oid.length + inner.length + size;
    const head = Buffer.from([0x30, 0x82, outer >> 8, outer & 255]);
    await writeFile(join(dir, "db.p7"), Buffer.concat([head, oid, inner, signedData]));
    const verify = async (bytes: Buffer) => {
      await writeFile(join(dir, "content"), bytes);
      const args = [
        "smime",
        "-verify",
        "-inform",
        "DER",
        "-in",
        join(dir, "db.p7"),
        "-binary",
        "-purpose",
        "any",
      ];
      const trust = ["-content", join(dir, "content"), "-CAfile", signer.files.signingCertificate];
      return await execute("openssl", [...args, ...trust, "-out", "/dev/null"]);
    };
    expect((await verify(content)).stderr).toContain("Verification successful");
    content[0] = 0x65;
    await expect(verify(content)).rejects.toThrow("signature failure");
  });

  it("are told from other files", () => {
    expect(() => authPayload(new Uint8Array(10))).toThrow("cut off");
    expect(() => authPayload(new Uint8Array(100))).toThrow("not an authenticated variable");
    expect(() => readSignatureLists(new Uint8Array(10))).toThrow("cut off");
    expect(() => readSignatureLists(new Uint8Array(40))).toThrow("impossible sizes");
  });
});

describe("well-known certificates", () => {
  it("are the ones with the published fingerprints, in order", () => {
    const fingerprints = (variable: "KEK" | "db") =>
      wellKnownEntries(variable).map((entry) => {
        expect(entry.owner).toBe(MICROSOFT_OWNER);
        return new X509Certificate(entry.certificate).fingerprint.replaceAll(":", "");
      });
    expect(fingerprints("KEK")).toEqual([
      "31590BFD89C9D74ED087DFAC66334B3931254B30",
      "459AB6FB5E284D272D5E3E6ABC8ED663829D632B",
    ]);
    expect(fingerprints("db")).toEqual([
      "46DEF63B5CE61CF8BA0DE2E6639C1019D0ED14F3",
      "3FB39E2B8BD183BF9E4594E72183CA60AFCD4277",
      "B5EEB4A6706048073F0ED296E7F580A790B59EAA",
    ]);
  });
});

describe("owner of the own certificate", () => {
  it("is a UUID that follows from the certificate alone", () => {
    const owner = certificateOwner(signer.keys.certificate);
    expect(owner).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(certificateOwner(new Uint8Array(signer.keys.certificate))).toBe(owner);
  });
});
