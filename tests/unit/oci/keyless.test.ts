import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { signatureTag } from "../../../lib/oci/signature.ts";
import { requireVerifiedInputs } from "../../../lib/services/inputs/verified-inputs.ts";
import type { FakeImage } from "../../fixtures/fake-image.ts";
import { signedBundle, signedPayload } from "../../fixtures/keyless-signing.ts";
import { HOUR_MS, KeylessWorld, REPOSITORY, since } from "../../fixtures/keyless-world.ts";
import { failure, openSource, removeScratch, scratchFolder } from "../../fixtures/source-images.ts";

let world: KeylessWorld;
beforeAll(async () => {
  world = await KeylessWorld.start();
});
afterEach(async () => {
  world.fake.reset();
  await removeScratch();
});
afterAll(() => world.fake.stop());

describe("an image that is signed keylessly is used", () => {
  test.each<[string, (world: KeylessWorld, image: FakeImage) => void]>([
    ["by a bundle with the log's promise", (w, i) => w.asBundle(i, signedBundle(w.sigstore, i.digest))],
    [
      "by a bundle with a time stamp",
      (w, i) => w.asBundle(i, signedBundle(w.sigstore, i.digest, { time: "timestamp" })),
    ],
    ["under cosign's signature tag", (w, i) => w.asTag(i, signedPayload(w.sigstore, REPOSITORY, i.digest))],
    [
      "by a person of the company",
      (w, i) =>
        w.asTag(i, signedPayload(w.sigstore, REPOSITORY, i.digest, { email: "someone@siderolabs.com" })),
    ],
    [
      "long ago, with a certificate that has expired since",
      (w, i) => {
        const at = new Date(Date.now() - 48 * HOUR_MS + 60_000);
        w.asBundle(i, signedBundle(w.sigstore, i.digest, { ...since(48 * HOUR_MS), at }));
      },
    ],
    [
      "long ago, under the tag, with the issuer told in the old way",
      (w, i) => {
        const at = new Date(Date.now() - 900 * 24 * HOUR_MS + 60_000);
        const wish = { ...since(900 * 24 * HOUR_MS), at, oldIssuerExtension: true };
        w.asTag(i, signedPayload(w.sigstore, REPOSITORY, i.digest, wish));
      },
    ],
    [
      "by a bundle beside others: a strange one, a bill of materials, and no bundle at all",
      (w, i) => {
        const sbom = signedBundle(w.sigstore, i.digest, { predicateType: "https://spdx.dev/Document" });
        const bundles = [
          signedBundle(w.stranger, i.digest),
          sbom,
          { a: 1 },
          signedBundle(w.sigstore, i.digest),
        ];
        w.asBundle(i, ...bundles);
      },
    ],
    [
      "under the tag, beside a bundle that is worth nothing",
      (w, i) => {
        w.asBundle(i, signedBundle(w.stranger, i.digest));
        w.asTag(i, signedPayload(w.sigstore, REPOSITORY, i.digest));
      },
    ],
  ])("%s", async (_how, prepare) => {
    const image = await world.pushImage();
    prepare(world, image);
    const { images } = await world.open();
    expect(await images.resolveTag(REPOSITORY, "v1.0.0")).toBe(image.digest);
    const dir = join(await scratchFolder(), "tree");
    await images.extract(REPOSITORY, image.digest, "amd64", dir);
    expect(await readFile(join(dir, "usr/install/amd64/vmlinuz"), "utf8")).toBe("kernel");
  });

  test("by names of the operator's own, exact or as a pattern", async () => {
    const image = await world.pushImage();
    const uri = "https://git.example.org/images/.github/workflows/release.yaml@refs/heads/main";
    const issuer = "https://token.example.org/a";
    world.asBundle(image, signedBundle(world.sigstore, image.digest, { uri, issuer }));
    const identity = "^https://git\\.example\\.org/images/";
    const exact = await world.open({ identity, issuer });
    expect(await exact.images.resolveTag(REPOSITORY, "v1.0.0")).toBe(image.digest);
    const pattern = await world.open({ identity, issuer: "^https://token\\.example\\.org/[ab]$" });
    expect(await pattern.images.resolveTag(REPOSITORY, "v1.0.0")).toBe(image.digest);
    const other = await world.open({ identity, issuer: "https://token.example.org/" });
    expect((await failure(other.images.resolveTag(REPOSITORY, "v1.0.0"))).message).toContain(
      "vouched for by",
    );
  });
});

test("a payload or bundle with a flipped byte is refused, and a good one beside it still counts", async () => {
  const image = await world.pushImage();
  world.asTag(image, signedPayload(world.sigstore, REPOSITORY, image.digest));
  const repository = world.fake.repository(REPOSITORY);
  const tag = repository.manifests.get(repository.tags.get(signatureTag(image.digest)) ?? "");
  const layer = JSON.parse(String(tag?.bytes)).layers[0].digest;
  const bytes = Buffer.from(repository.blobs.get(layer) ?? "");
  bytes[50] = (bytes[50] ?? 0) ^ 1;
  repository.blobs.set(layer, bytes);
  const error = await failure((await world.open()).images.resolveTag(REPOSITORY, "v1.0.0"));
  expect(error.code).toBe("source_invalid");
  expect(error.message).toContain(
    `${REPOSITORY}@${image.digest} is not verified: its signature cannot be read`,
  );
  expect(error.message).toContain(layer);
  world.asBundle(image, signedBundle(world.sigstore, image.digest));
  expect(await (await world.open()).images.resolveTag(REPOSITORY, "v1.0.0")).toBe(image.digest);
});

test("what was accepted is checked again after a restart, without the registry", async () => {
  for (const put of [
    (w: KeylessWorld, i: FakeImage) => w.asBundle(i, signedBundle(w.sigstore, i.digest)),
    (w: KeylessWorld, i: FakeImage) => w.asTag(i, signedPayload(w.sigstore, REPOSITORY, i.digest)),
  ]) {
    world.fake.reset();
    const image = await world.pushImage();
    put(world, image);
    const cacheDir = await scratchFolder();
    await (await world.open({}, cacheDir)).images.platformManifest(REPOSITORY, image.digest, "amd64");
    world.fake.switches.down = true;
    await (await world.open({}, cacheDir)).images.platformManifest(REPOSITORY, image.digest, "amd64");
    const stricter = await world.open({ identity: "^nobody$" }, cacheDir);
    const error = await failure(stricter.images.platformManifest(REPOSITORY, image.digest, "amd64"));
    expect(error.code).toBe("upstream_unavailable");
    const [name = ""] = await readdir(join(cacheDir, "signatures", "keyless"));
    const kept = join(cacheDir, "signatures", "keyless", name);
    await writeFile(kept, (await readFile(kept, "utf8")).replace(/[A-Za-z]{8}/, "AAAAAAAA"));
    const damaged = await failure(
      (await world.open({}, cacheDir)).images.platformManifest(REPOSITORY, image.digest, "amd64"),
    );
    expect(damaged.code).toBe("upstream_unavailable");
  }
});

test("an image that was used unchecked before is refused for builds afterwards, whatever is cached", async () => {
  const cacheDir = await scratchFolder();
  const plan = (image: FakeImage): Parameters<typeof requireVerifiedInputs>[1] => ({
    inputs: [
      { id: "one", kind: "image-tree", repository: REPOSITORY, digest: image.digest, arch: "amd64" },
      { id: "two", kind: "image-layers", repository: REPOSITORY, digest: image.digest, arch: "arm64" },
    ],
  });
  const { signal } = new AbortController();
  const image = await world.pushImage();
  const unchecked = await openSource(world.fake.url, { cacheDir });
  await unchecked.images.extract(REPOSITORY, image.digest, "amd64", join(await scratchFolder(), "tree"));
  await requireVerifiedInputs(unchecked.images, plan(image), signal);
  const { images } = await world.open({}, cacheDir);
  const error = await failure(requireVerifiedInputs(images, plan(image), signal));
  expect(error.message).toContain(`${REPOSITORY}@${image.digest} is not verified: it has no signature`);
  world.asBundle(image, signedBundle(world.sigstore, image.digest));
  await requireVerifiedInputs(images, plan(image), signal);
});
