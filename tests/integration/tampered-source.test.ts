/** A source that was tampered with, asked for over HTTP by a whole factory: refused with a message that names it; nothing is built. */
import { generateKeyPairSync, sign } from "node:crypto";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SIGNATURE_ANNOTATION, simpleSigningPayload } from "../../lib/formats/image-signature.ts";
import { postSchematic, waitForVersion } from "../../scripts/demo/client.ts";
import { findFreePort } from "../../scripts/embedded/free-port.ts";
import { type RunningFactory, startFactory } from "../../scripts/supervisor/factory.ts";
import { type FakeImage, makeLayer } from "../fixtures/fake-image.ts";
import { FakeRegistry } from "../fixtures/fake-registry.ts";
import { pushRelease } from "../fixtures/fake-source.ts";
import { pushBundles, pushPayload, signedBundle, signedPayload } from "../fixtures/keyless-signing.ts";
import { createMigratedDatabase } from "../fixtures/postgres.ts";
import { createPrivateSigstore } from "../fixtures/private-sigstore.ts";
import { createTestRedis } from "../fixtures/redis.ts";

const PROGRAM = [process.execPath, "--import", "tsx"];
/** An extension of its own for each release, or what is done to one would be done to all. */
const extensionOf = (tag: string) => `extension-${tag.replaceAll(".", "-")}`;
const PLAIN = "customization: {}\n";
/** Stands for it in what is done to a release. */
const EXTENSION = "the extension";
const named = (tag: string, name: string) => (name === EXTENSION ? `siderolabs/${extensionOf(tag)}` : name);
const withExtension = (tag: string) =>
  `customization:
  systemExtensions:
    officialExtensions:
      - siderolabs/${extensionOf(tag)}
`;

type Sign = (fake: FakeRegistry, repository: string, digest: string) => void;

interface Mode {
  environment: Record<string, string>;
  sign: Sign;
}

/** Every image of a release is signed but those whose repository is named. */
interface Tampering {
  unsigned?: string[];
  /** Turns one byte of the layer of this repository's image, or of one that the catalog names. */
  flipped?: string;
  /** Serves another manifest under the digest that the catalog names. */
  exchanged?: string;
  /** The catalog names a digest that is not there. */
  absent?: string;
}

let scratch: string;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "casthouse-tampered-"));
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

async function modeOf(kind: "off" | "key" | "keyless"): Promise<Mode> {
  if (kind === "off") return { environment: {}, sign: () => undefined };
  if (kind === "key") {
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
    const file = join(scratch, "cosign.pub");
    await writeFile(file, publicKey.export({ type: "spki", format: "pem" }));
    return {
      environment: { SOURCE_VERIFY: `key:${file}` },
      sign(fake, repository, digest) {
        const payload = Buffer.from(simpleSigningPayload(repository, digest));
        const signature = sign("sha256", payload, privateKey).toString("base64");
        pushPayload(fake, repository, digest, {
          payload,
          annotations: { [SIGNATURE_ANNOTATION]: signature },
        });
      },
    };
  }
  const sigstore = createPrivateSigstore();
  const file = join(scratch, "trusted_root.json");
  await writeFile(file, sigstore.trustedRoot());
  return {
    environment: { SOURCE_VERIFY: "keyless", SOURCE_TRUST_ROOT: file },
    // Both forms, as sources of several years have them.
    sign: (fake, repository, digest) =>
      repository.length % 2 === 0
        ? pushBundles(fake, repository, digest, [signedBundle(sigstore, digest)])
        : pushPayload(fake, repository, digest, signedPayload(sigstore, repository, digest)),
  };
}

/** A release with an imager of real use for kernels, tampered with; gives the digest of each repository's image. */
async function pushTampered(
  fake: FakeRegistry,
  tag: string,
  signImage: Sign,
  tampering: Tampering = {},
): Promise<Map<string, string>> {
  const known = new Set(fake.names().flatMap((name) => [...fake.repository(name).manifests.keys()]));
  await pushRelease(fake, tag, { extensions: [extensionOf(tag)] });
  pushImager(fake, tag, await imagerLayer(tag));
  const digests = new Map<string, string>();
  for (const name of fake.names()) {
    const { tags } = fake.repository(name);
    for (const [key, digest] of tags)
      if (!known.has(digest) && !key.startsWith("sha256-")) digests.set(name, digest);
  }
  const repositoryOf = (name: string) => named(tag, name);
  const unsignedOnes = tampering.unsigned?.map(repositoryOf) ?? [];
  for (const [name, digest] of digests) if (!unsignedOnes.includes(name)) signImage(fake, name, digest);
  const { flipped, exchanged, absent } = tampering;
  const tamper = (name: string | undefined, how: (repository: string, digest: string) => void) =>
    name !== undefined && how(repositoryOf(name), digests.get(repositoryOf(name)) ?? "");
  tamper(flipped, (repository, digest) => flipLayer(fake, repository, digest));
  tamper(exchanged, (repository, digest) => exchange(fake, repository, digest));
  tamper(absent, (repository, digest) => fake.repository(repository).manifests.delete(digest));
  return digests;
}

const imagerLayer = (seed: string) =>
  makeLayer([
    { name: "usr/install/amd64/vmlinuz", content: `kernel ${seed}` },
    { name: "usr/install/amd64/initramfs.xz", content: `initramfs ${seed}` },
  ]);

const pushImager = (fake: FakeRegistry, tag: string, layer: Buffer): FakeImage =>
  fake.push("siderolabs/imager", tag, { layers: [layer], arches: ["amd64", "arm64"] });

function flipLayer(fake: FakeRegistry, name: string, digest: string): void {
  const { manifests, blobs } = fake.repository(name);
  const index = JSON.parse(String(manifests.get(digest)?.bytes));
  const amd64 = index.manifests.find(
    (one: { platform?: { architecture: string } }) => one.platform?.architecture === "amd64",
  );
  const [layer] = JSON.parse(String(manifests.get(amd64.digest)?.bytes)).layers;
  const bytes = Buffer.from(blobs.get(layer.digest) ?? "");
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
  blobs.set(layer.digest, bytes);
}

function exchange(fake: FakeRegistry, name: string, digest: string): void {
  const { manifests } = fake.repository(name);
  const manifest = manifests.get(digest);
  if (!manifest) throw new Error(`${name}@${digest} is not there`);
  manifests.set(digest, { ...manifest, bytes: Buffer.concat([manifest.bytes, Buffer.from("\n")]) });
}

interface Case {
  what: string;
  modes: ("off" | "key" | "keyless")[];
  tampering: Tampering;
  path: string;
  /** The schematic has the release's extension. */
  extended?: boolean;
  status: number;
  /** What the answer says, its hint behind it; `image` gives the full name of the release's image of a repository. */
  says: (image: (repository: string) => string) => RegExp;
}

const ALL: Case["modes"] = ["off", "key", "keyless"];
const KERNEL = "kernel-amd64";
const INITRAMFS = "initramfs-amd64.xz";
const wrongBytes = /: what came has digest sha256:\w{64} instead of sha256:\w{64}/;
const unsigned = (image: string) =>
  new RegExp(`^the signature of ${image} is not verified: it has no signature`);

const CASES: Case[] = [
  {
    what: "a flipped byte in the imager's layer",
    modes: ALL,
    tampering: { flipped: "siderolabs/imager" },
    path: KERNEL,
    status: 502,
    says: () => new RegExp(`siderolabs/imager@sha256:\\w{64}${wrongBytes.source}`),
  },
  {
    what: "a flipped byte in the catalog's layer",
    modes: ALL,
    tampering: { flipped: "siderolabs/extensions" },
    path: KERNEL,
    status: 502,
    says: () => new RegExp(`siderolabs/extensions@sha256:\\w{64}${wrongBytes.source}`),
  },
  {
    what: "an extension that is not what the catalog's digest says",
    modes: ALL,
    tampering: { exchanged: EXTENSION },
    path: INITRAMFS,
    extended: true,
    status: 502,
    says: (image) => new RegExp(`${image(EXTENSION)}${wrongBytes.source}`),
  },
  {
    what: "a digest in the catalog that the source does not have",
    modes: ALL,
    tampering: { absent: EXTENSION },
    path: KERNEL,
    status: 404,
    says: (image) =>
      new RegExp(`version 1\\.13\\.\\d+ is not available.*The source lacks ${image(EXTENSION)}`, "s"),
  },
  ...["siderolabs/imager", "siderolabs/extensions", "siderolabs/overlays"].map(
    (name): Case => ({
      what: `an unsigned image ${name}`,
      modes: ["key", "keyless"],
      tampering: { unsigned: [name] },
      path: KERNEL,
      status: 502,
      says: (image) => unsigned(image(name)),
    }),
  ),
  {
    what: "an unsigned image of an extension",
    modes: ["key", "keyless"],
    tampering: { unsigned: [EXTENSION] },
    path: INITRAMFS,
    extended: true,
    status: 502,
    says: (image) => unsigned(image(EXTENSION)),
  },
];

interface ReleasesReply {
  source: { verification: string };
  releases: { version: string; state: string; missing: string[] }[];
}

describe.each(ALL)("a factory with signatures checked: %s", (kind) => {
  const cases = CASES.filter(({ modes }) => modes.includes(kind)).map((one, at) => ({
    ...one,
    version: `v1.13.${at + 1}`,
  }));
  let fake: FakeRegistry;
  let factory: RunningFactory;
  let dataDir: string;
  const digests = new Map<string, Map<string, string>>();

  beforeAll(async () => {
    fake = await FakeRegistry.start();
    const mode = await modeOf(kind);
    for (const version of ["v1.13.0", "v1.13.99"]) await pushTampered(fake, version, mode.sign);
    for (const { version, tampering } of cases)
      digests.set(version, await pushTampered(fake, version, mode.sign, tampering));
    dataDir = join(scratch, kind);
    factory = await startFactory({
      environment: {
        ...{ PORT: String(await findFreePort()), HOST: "127.0.0.1", DATA_DIR: dataDir },
        ...{ DATABASE_URL: await createMigratedDatabase(), REDIS_URL: (await createTestRedis()).url },
        ...{ SOURCE_REGISTRY: fake.url, ...mode.environment },
      },
      programs: {
        web: [...PROGRAM, fileURLToPath(new URL("../fixtures/api-server.ts", import.meta.url))],
        worker: [...PROGRAM, "workers/main.ts"],
      },
      say: () => undefined,
      onHopeless: (reason) => console.error(`test factory: ${reason}`),
    });
    await waitForVersion(factory.url, "v1.13.0", 60_000);
  }, 180_000);
  afterAll(async () => {
    await factory?.stop();
    await fake?.stop();
  });

  test.each(cases)("refuses $what, and says so", async ({ version, path, extended, status, says }) => {
    const id = await postSchematic(factory.url, extended ? withExtension(version) : PLAIN);
    const reply = await fetch(`${factory.url}/image/${id}/${version}/${path}`);
    const text = `${await reply.text()}${reply.headers.get("x-error-hint")}`;
    const image = (name: string) =>
      `${named(version, name)}@${digests.get(version)?.get(named(version, name))}`;
    expect({ status: reply.status, text }).toEqual({
      status,
      text: expect.stringMatching(says(image)),
    });
  });

  test("offers the release that is whole, and tells what is wrong with others", async () => {
    const reply = await fetch(`${factory.url}/api/v1/releases`);
    const { source, releases }: ReleasesReply = await reply.json();
    expect(source.verification).toBe(kind);
    const stateOf = (version: string) => releases.find((one) => one.version === version);
    expect(stateOf("v1.13.0")).toMatchObject({ state: "complete", missing: [] });
    // What is wrong inside an image that only some builds need is seen by these builds.
    const atOnce = cases.filter(({ path, what }) => path === KERNEL && !what.includes("the imager's layer"));
    expect(atOnce.length).toBeGreaterThanOrEqual(2);
    for (const { version } of atOnce) {
      const missing = [expect.stringMatching(/^.*siderolabs\/[\w-]+@sha256:\w{64}/)];
      expect(stateOf(version)).toMatchObject({ state: "incomplete", missing });
    }
  });

  test("builds nothing of all that, and still builds what is whole", async () => {
    const assets = () => readdir(join(dataDir, "objects", "assets")).catch(() => []);
    expect(await assets()).toEqual([]);
    const id = await postSchematic(factory.url, PLAIN);
    const reply = await fetch(`${factory.url}/image/${id}/v1.13.0/${KERNEL}`);
    expect({ status: reply.status, text: await reply.text() }).toEqual({
      status: 200,
      text: "kernel v1.13.0",
    });
    expect(await assets()).toHaveLength(1);
  });

  if (kind === "off")
    test("begins no new release while the source is away, and goes on serving", async () => {
      const id = await postSchematic(factory.url, PLAIN);
      const file = (version: string) => `${factory.url}/image/${id}/${version}/${KERNEL}`;
      fake.switches.down = true;
      const reply = await fetch(file("v1.13.99"), { headers: { "X-Request-ID": "source-is-away" } });
      expect(reply.status).toBe(503);
      expect(await reply.text()).toMatch(/cannot fetch siderolabs\/\S+:v1\.13\.99: .*source-is-away/s);
      expect(reply.headers.get("x-error-hint")).toContain("before the first file of a release");
      expect(Number(reply.headers.get("retry-after"))).toBeGreaterThan(0);
      expect((await fetch(`${factory.url}/versions`)).status).toBe(200);
      expect((await fetch(file("v1.13.0"))).status).toBe(200);
      fake.switches.down = false;
      const later = await fetch(file("v1.13.99"));
      expect([later.status, await later.text()]).toEqual([200, "kernel v1.13.99"]);
    });
});
