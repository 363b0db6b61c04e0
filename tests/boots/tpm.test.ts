/**
 * What a TPM holds after the firmware started a signed UKI is what the UKI's own signatures foretell. systemd-stub of the sample
 * release (252) measures fewer sections than the policies are made for, so the UKI here has that of a newer Debian.
 */
import { createHash, createPublicKey, verify } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parsePe } from "../../lib/formats/pe.ts";
import { withoutSymbols } from "../../scripts/sample-release/base.ts";
import { command } from "../../scripts/sample-release/command.ts";
import { fetchFromSuite } from "../../scripts/sample-release/debian.ts";
import {
  ensureSampleRelease,
  type SampleRegistry,
  startSampleRegistry,
} from "../../scripts/sample-release/index.ts";
import { boot, VERSION } from "../boot/machines.ts";
import { type TestKeys, testKeys } from "../fixtures/secure-boot.ts";

const TSX = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
/** The first Debian with a stub that measures the sections of UAPI.5. */
const SUITE = "trixie";
const STUB = "usr/lib/systemd/boot/efi/linuxx64.efi.stub";
/** Banks with the number TPM 2.0 has for their hash. */
const BANKS = { sha256: "000b", sha384: "000c", sha512: "000d" } as const;
/** What a running system extends the register with until disks are opened. */
const PHASES = ["enter-initrd", "leave-initrd", "enter-machined"];

let dir: string;
let registry: SampleRegistry;
let keys: TestKeys;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "casthouse-tpm-"));
  keys = await testKeys(dir);
  registry = await startSampleRegistry(await ensureSampleRelease());
}, 300_000);
afterAll(async () => {
  await registry?.stop();
  await rm(dir, { recursive: true, force: true });
});

async function newerStub(): Promise<string> {
  const packages = await fetchFromSuite(resolve(".cache/boots"), SUITE, "amd64", "systemd-boot-efi");
  const file = join(dir, "stub.efi");
  await writeFile(file, withoutSymbols(await readFile(join(packages, STUB))));
  return file;
}

/** The UKI by the command, with another stub in place of the release's. */
async function ukiWith(stub: string): Promise<string> {
  const { signingKey, signingCertificate, pcrKey } = keys.files;
  const profile = {
    ...{ arch: "amd64", platform: "metal", secureboot: true, version: VERSION },
    customization: { extraKernelArgs: ["casthouse.test=1"] },
    input: {
      sdStub: { path: stub },
      secureboot: {
        secureBootSigner: { keyPath: signingKey, certPath: signingCertificate },
        pcrSigner: { keyPath: pcrKey },
      },
    },
    output: { kind: "uki", outFormat: "raw" },
  };
  const args = ["--import", TSX, resolve("cli/main.ts"), "imager", "-", "--source", registry.url];
  await command(process.execPath, [...args, "--output", dir, "--cache-dir", join(dir, "cache")], {
    cwd: dir,
    stdin: Buffer.from(JSON.stringify(profile)),
  });
  return join(dir, "metal-amd64-secureboot-uki.efi");
}

/** The policy that opens when PCR 11 of a bank has this value (TPM 2.0 part 3, TPM2_PolicyPCR). */
function policyOf(bank: keyof typeof BANKS, register: Buffer): string {
  const pcrs = createHash("sha256").update(register).digest();
  const selection = Buffer.from(`0000017f00000001${BANKS[bank]}03000800`, "hex");
  return createHash("sha256")
    .update(Buffer.concat([Buffer.alloc(32), selection, pcrs]))
    .digest("hex");
}

function afterPhases(bank: keyof typeof BANKS, register: string): Buffer {
  const hash = (bytes: Uint8Array | string) => createHash(bank).update(bytes).digest();
  return PHASES.reduce(
    (value, phase) => hash(Buffer.concat([value, hash(phase)])),
    Buffer.from(register, "hex"),
  );
}

describe("PCR 11", () => {
  if (!existsSync("/usr/bin/swtpm")) {
    it("is what was signed", (context) => context.skip("Debian package that is not installed: swtpm"));
    return;
  }

  it("is in every bank what the UKI's signature is for", async () => {
    const uki = await ukiWith(await newerStub());
    const { markers } = await boot({ kind: "efi", path: uki }, { tpm: true });
    expect(markers).toMatchObject({ version: VERSION, bootMode: "uefi" });
    expect(markers.cmdline).toContain("casthouse.test=1");
    const bytes = await readFile(uki);
    const textOf = (name: string): string => {
      const section = parsePe(bytes).sections.find((candidate) => candidate.name === name);
      return bytes.toString(
        "utf8",
        section?.rawOffset ?? 0,
        (section?.rawOffset ?? 0) + (section?.virtualSize ?? 0),
      );
    };
    const signatures = JSON.parse(textOf(".pcrsig"));
    const key = createPublicKey(textOf(".pcrpkey"));
    for (const bank of ["sha256", "sha384", "sha512"] as const) {
      const [{ pol, sig, pcrs }] = signatures[bank];
      expect(pcrs).toEqual([11]);
      expect(pol, bank).toBe(policyOf(bank, afterPhases(bank, markers.pcr11[bank] ?? "")));
      expect(verify(bank, Buffer.from(pol, "hex"), key, Buffer.from(sig, "base64"))).toBe(true);
    }
  });
});
