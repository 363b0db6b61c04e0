/** Secure Boot where the shorter tests do not go: over the network, from an installation, on arm64. */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Arch } from "../../lib/domain/asset.ts";
import { missingPackages } from "../../scripts/boot/machine.ts";
import { pullInstaller, systemdBootDisk } from "../boot/installed-disk.ts";
import { VERSION } from "../boot/machines.ts";
import {
  ENROLLING,
  ENROLLING_SCHEMATIC,
  newSecureMachine,
  REFUSAL,
  type SecureMachine,
} from "../boot/secure-machine.ts";
import { startTestFactory, type TestFactory } from "../fixtures/factory.ts";

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

/** Lets a new machine enroll the keys of the ISO. */
async function enrolledMachine(arch: Arch): Promise<SecureMachine> {
  const start = await newSecureMachine(dir, arch, arch);
  const path = await factory.fetch(`/image/${id}/${VERSION}/metal-${arch}-secureboot.iso`);
  const first = await start({ kind: "iso", path, firmware: "uefi" });
  expect(first.serial).toContain(ENROLLING);
  expect([first.timedOut, first.ok]).toEqual([false, false]);
  return start;
}

describe("a machine that knows the keys", () => {
  let start: SecureMachine;
  beforeAll(async () => {
    start = await enrolledMachine("amd64");
  }, 600_000);
  const expectSecure = (result: Awaited<ReturnType<SecureMachine>>) => {
    expect(result.ok, result.serial).toBe(true);
    expect(result.markers).toMatchObject({ secureBoot: "on", schematic: id, version: VERSION });
    expect(result.markers.cmdline).toMatch(/^talos\.platform=metal .*lockdown=confidentiality/);
  };
  const script = () => {
    const base = factory.url.replace("127.0.0.1", "10.0.2.2");
    return [`chain --replace --autofree ${base}/pxe/${id}/${VERSION}/metal-amd64-secureboot`];
  };

  it("boots over the network by the factory's script, from an iPXE that is signed too", async () => {
    const keys = join(factory.dataDir, "keys/secureboot");
    const program = join(dir, "ipxe.efi");
    await execute("sbsign", [
      ...["--key", join(keys, "signing-key.pem"), "--cert", join(keys, "signing-cert.pem")],
      ...["--output", program, "/usr/lib/ipxe/ipxe.efi"],
    ]);
    const result = await start({ kind: "ipxe", firmware: "uefi", script: script(), program });
    // A slow download shows per cent and takes them back.
    expect(result.serial).toMatch(/metal-amd64-secureboot-uki\.efi\.\.\.[ \d%\b]*ok/);
    expectSecure(result);
  });

  it("refuses an iPXE that is not signed", async () => {
    const medium = { kind: "ipxe", firmware: "uefi", script: script() } as const;
    const result = await start(medium, { stopAt: REFUSAL });
    expect(result.serial).toContain(REFUSAL);
    expect(result.markers.version).toBeNull();
  });

  it("boots the files of the SecureBoot installer image", async () => {
    const image = `metal-installer-secureboot/${id}`;
    const files = await pullInstaller(factory, { image, version: VERSION });
    const path = await systemdBootDisk(await mkdtemp(join(dir, "installed-")), {
      loader: join(files, "systemd-boot.efi"),
      uki: join(files, "vmlinuz.efi"),
      version: VERSION,
    });
    expectSecure(await start({ kind: "disk", path, firmware: "uefi" }));
  });
});

describe("a machine of arm64", () => {
  const missing = missingPackages("arm64").join(" ");
  it("enrolls the keys of the ISO and has Secure Boot on in its second boot", async (context) => {
    if (missing !== "") context.skip(`Debian packages that are not installed: ${missing}`);
    const start = await enrolledMachine("arm64");
    const path = await factory.fetch(`/image/${id}/${VERSION}/metal-arm64-secureboot.iso`);
    const result = await start({ kind: "iso", path, firmware: "uefi" });
    expect(result.ok, result.serial).toBe(true);
    expect(result.markers).toMatchObject({ machine: "aarch64", secureBoot: "on", schematic: id });
  });
});
