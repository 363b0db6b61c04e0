/** Firmware with Secure Boot enrolls the factory's keys from its own images, then starts these and nothing else. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestFactory, type TestFactory } from "../fixtures/factory.ts";
import { testKeys } from "../fixtures/secure-boot.ts";
import { unpacked, VERSION } from "./machines.ts";
import {
  ENROLLING,
  ENROLLING_SCHEMATIC,
  newSecureMachine,
  REFUSAL,
  type SecureMachine,
} from "./secure-machine.ts";

const execute = promisify(execFile);

let factory: TestFactory;
let dir: string;
let id: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "casthouse-secureboot-"));
  factory = await startTestFactory();
  id = await factory.schematic(ENROLLING_SCHEMATIC);
}, 300_000);
afterAll(async () => {
  await factory?.stop();
  await rm(dir, { recursive: true, force: true });
});

const fetchAsset = (name: string): Promise<string> => factory.fetch(`/image/${id}/${VERSION}/${name}`);

describe("the published certificate", () => {
  it("comes in both forms and verifies what the factory signs", async () => {
    const [pem, der] = await Promise.all(
      ["pem", "der"].map((form) => fetch(`${factory.url}/secureboot/signing-cert.${form}`)),
    );
    expect(pem?.headers.get("content-type")).toBe("application/x-pem-file");
    expect(der?.headers.get("content-type")).toBe("application/pkix-cert");
    const text = (await pem?.text()) ?? "";
    expect(Buffer.from(text.replace(/-----[^-]+-----|\s/g, ""), "base64")).toEqual(
      Buffer.from((await der?.arrayBuffer()) ?? new ArrayBuffer(0)),
    );
    const file = join(dir, "published.pem");
    await writeFile(file, text);
    const uki = await fetchAsset("metal-amd64-secureboot-uki.efi");
    expect((await execute("sbverify", ["--cert", file, uki])).stdout).toContain("Signature verification OK");
  });
});

describe("a machine in setup mode", () => {
  let start: SecureMachine;
  beforeAll(async () => {
    start = await newSecureMachine(dir, "iso");
  });

  it("enrolls the keys of the ISO in its first boot and starts again", async () => {
    const path = await fetchAsset("metal-amd64-secureboot.iso");
    const result = await start({ kind: "iso", path, firmware: "uefi" });
    expect(result.serial).toContain(ENROLLING);
    // The machine is set to end when it would start again.
    expect([result.timedOut, result.ok]).toEqual([false, false]);
  });

  it("has Secure Boot on in its second boot", async () => {
    const path = await fetchAsset("metal-amd64-secureboot.iso");
    const result = await start({ kind: "iso", path, firmware: "uefi" });
    expect(result.ok, result.serial).toBe(true);
    expect(result.markers).toMatchObject({
      bootMode: "uefi",
      secureBoot: "on",
      schematic: id,
      version: VERSION,
    });
    expect(result.markers.cmdline).toContain("lockdown=confidentiality");
  });

  it("starts the UKI that the firmware loads itself", async () => {
    const result = await start({ kind: "efi", path: await fetchAsset("metal-amd64-secureboot-uki.efi") });
    expect(result.ok, result.serial).toBe(true);
    expect(result.markers.secureBoot).toBe("on");
  });

  it("refuses a UKI that is not signed, and one signed by another key", async () => {
    const plain = await fetchAsset("metal-amd64-uki.efi");
    const stranger = await testKeys(dir);
    const signed = join(dir, "stranger.efi");
    const { signingKey, signingCertificate } = stranger.files;
    await execute("sbsign", ["--key", signingKey, "--cert", signingCertificate, "--output", signed, plain]);
    for (const path of [plain, signed]) {
      const result = await start({ kind: "efi", path }, { stopAt: REFUSAL });
      expect(result.serial).toContain(REFUSAL);
      expect(result.markers.version).toBeNull();
    }
  });
});

describe("a machine without keys", () => {
  it("takes them from the SecureBoot disk too, and starts it", async () => {
    const start = await newSecureMachine(dir, "disk");
    const path = await unpacked(await fetchAsset("metal-amd64-secureboot.raw.zst"));
    const first = await start({ kind: "disk", path, firmware: "uefi" });
    expect(first.serial).toContain(ENROLLING);
    expect([first.timedOut, first.ok]).toEqual([false, false]);
    const second = await start({ kind: "disk", path, firmware: "uefi" });
    expect(second.ok, second.serial).toBe(true);
    expect(second.markers.secureBoot).toBe("on");
  });
});
