/**
 * Proves that the same request gives the same bytes: two factories with empty folders, in different time zones and with
 * different names, keys being the same, build every kind of file once; all SHA-256 are equal.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestFactory } from "../fixtures/factory.ts";
import { testKeys } from "../fixtures/secure-boot.ts";

/** Two extensions, an argument and META: everything that can change a file. */
const SCHEMATIC = `customization:
  extraKernelArgs: [panic=30]
  meta:
    - {key: 0xc, value: "machine: one"}
  systemExtensions:
    officialExtensions: [siderolabs/qemu-guest-agent, siderolabs/intel-ucode]
`;

const FILES = [
  "v1.9.5/initramfs-amd64.xz",
  "v1.9.5/metal-amd64.iso",
  "v1.9.5/nocloud-amd64.raw.xz",
  "v1.13.2/kernel-amd64",
  "v1.13.2/cmdline-metal-amd64",
  "v1.13.2/initramfs-amd64.xz",
  "v1.13.2/metal-amd64-uki.efi",
  "v1.13.2/metal-amd64.iso",
  "v1.13.2/metal-arm64.iso",
  "v1.13.2/metal-amd64.raw.zst",
  "v1.13.2/metal-arm64.raw.xz",
  "v1.13.2/akamai-amd64.raw.gz",
  "v1.13.2/gcp-amd64.raw.tar.gz",
  "v1.13.2/metal-amd64.qcow2",
  "v1.13.2/installer-amd64.tar",
  "v1.13.2/metal-amd64-secureboot-uki.efi",
  "v1.13.2/metal-amd64-secureboot.iso",
  "v1.13.2/installer-amd64-secureboot.tar",
];

/** Kinds that are not built here, with the reason, which the test prints. */
const LEFT_OUT = {
  raw: "4 GB to hash; .raw.zst, .raw.xz and .raw.gz are made of the same bytes",
  vhd: "12 GB to hash; the raw image and a footer without a clock (tests of the imager)",
};

let keysFolder: string;
let keys: Record<string, string>;

beforeAll(async () => {
  keysFolder = await mkdtemp(join(tmpdir(), "casthouse-determinism-"));
  const { files } = await testKeys(keysFolder);
  keys = {
    SECUREBOOT_SIGNING_KEY: files.signingKey,
    SECUREBOOT_SIGNING_CERT: files.signingCertificate,
    SECUREBOOT_PCR_KEY: files.pcrKey,
  };
});

afterAll(() => rm(keysFolder, { recursive: true, force: true }));

/** File → SHA-256, from a factory that has nothing but the keys. */
async function buildAll(environment: Record<string, string>): Promise<Record<string, string>> {
  const factory = await startTestFactory({
    environment: { ...keys, EXTERNAL_URL: "http://factory.test", ...environment },
  });
  try {
    const id = await factory.schematic(SCHEMATIC);
    const found: Record<string, string> = {};
    const next = FILES.values();
    const work = async () => {
      for (const file of next) {
        const reply = await fetch(`${factory.url}/image/${id}/${file}.sha256`);
        found[file] = reply.ok
          ? ((await reply.text()).split(" ")[0] ?? "")
          : `${reply.status} ${await reply.text()}`;
      }
    };
    await Promise.all([work(), work(), work()]);
    const index = await fetch(`${factory.url}/v2/installer/${id}/manifests/v1.13.2`, { method: "HEAD" });
    found["installer image"] = index.headers.get("docker-content-digest") ?? `${index.status}`;
    return found;
  } finally {
    await factory.stop();
  }
}

test("two empty factories make equal files of every kind", async () => {
  for (const [kind, reason] of Object.entries(LEFT_OUT)) console.log(`not compared: .${kind}: ${reason}`);
  const first = await buildAll({ TZ: "UTC", BUILD_CONCURRENCY: "1" });
  const second = await buildAll({ TZ: "Asia/Kathmandu", LANG: "tr_TR.UTF-8", BUILD_CONCURRENCY: "2" });
  expect(second).toEqual(first);
  expect(Object.keys(first).sort()).toEqual([...FILES, "installer image"].sort());
  for (const [file, hash] of Object.entries(first)) expect(hash, file).toMatch(/^(sha256:)?[0-9a-f]{64}$/);
  expect(new Set(Object.values(first)).size).toBe(FILES.length + 1);
}, 400_000);
