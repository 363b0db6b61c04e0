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
  // Disks of this release are small enough to be hashed whole.
  "v1.9.5/metal-amd64.raw",
  "v1.9.5/metal-amd64.vhd",
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
  "v1.13.2/vmware-amd64.ova",
  "v1.13.2/installer-amd64.tar",
  "v1.13.2/metal-amd64-secureboot-uki.efi",
  "v1.13.2/metal-amd64-secureboot.iso",
  "v1.13.2/metal-amd64-secureboot.raw.zst",
  "v1.13.2/installer-amd64-secureboot.tar",
];

/** A board, whose program writes into the disk, sectors of 4096 bytes and an embedded configuration. */
const OTHERS: [schematic: string, file: string][] = [
  ["overlay: {image: siderolabs/sbc-raspberrypi, name: rpi_generic}\n", "v1.13.2/metal-arm64.raw.zst"],
  ["overlay: {image: siderolabs/sbc-raspberrypi, name: rpi_generic}\n", "v1.13.2/installer-arm64.tar"],
  ["customization: {diskImage: {sectorSize: 4096}}\n", "v1.13.2/metal-amd64.raw.zst"],
  [
    'customization: {embeddedMachineConfiguration: "apiVersion: v1alpha1\\nkind: HostnameConfig\\n"}\n',
    "v1.13.2/metal-amd64-uki.efi",
  ],
];

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
    const wanted = FILES.map((file) => ({ name: file, id, file }));
    for (const [schematic, file] of OTHERS) {
      wanted.push({ name: `${file} of ${schematic}`, id: await factory.schematic(schematic), file });
    }
    const next = wanted.values();
    const work = async () => {
      for (const { name, id, file } of next) {
        const reply = await fetch(`${factory.url}/image/${id}/${file}.sha256`);
        found[name] = reply.ok
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
  const first = await buildAll({ TZ: "UTC", BUILD_CONCURRENCY: "1" });
  const second = await buildAll({ TZ: "Asia/Kathmandu", LANG: "tr_TR.UTF-8", BUILD_CONCURRENCY: "2" });
  expect(second).toEqual(first);
  const names = [
    ...FILES,
    ...OTHERS.map(([schematic, file]) => `${file} of ${schematic}`),
    "installer image",
  ];
  expect(Object.keys(first).sort()).toEqual(names.sort());
  for (const [file, hash] of Object.entries(first)) expect(hash, file).toMatch(/^(sha256:)?[0-9a-f]{64}$/);
  expect(new Set(Object.values(first)).size).toBe(names.length);
}, 400_000);
