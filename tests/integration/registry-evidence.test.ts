/** The registry over real tables: refusals, and evidence that becomes visible with its image. */
import { generateKeyPairSync, verify } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createRegistryRepository } from "../../lib/db/registry-repository.ts";
import { AppError } from "../../lib/errors/app-error.ts";
import { imageManifest } from "../../lib/formats/image-documents.ts";
import { parseOciSigningKey } from "../../lib/keys/oci-signing-key.ts";
import { createImageEvidence } from "../../lib/services/evidence/image-evidence.ts";
import { createImageSigning } from "../../lib/services/evidence/image-signing.ts";
import { sha256 } from "../fixtures/fake-image.ts";
import { FakeRegistry } from "../fixtures/fake-registry.ts";
import { EMPTY_SCHEMATIC_ID as ID } from "../fixtures/recipes.ts";
import {
  registryRequest as at,
  documentJson as json,
  ociCode,
  openRegistryWeb,
  openRegistryWorld,
  type RegistryWorld,
  readAll,
} from "../fixtures/registry-world.ts";
import { failure, removeScratch } from "../fixtures/source-images.ts";

let source: FakeRegistry;
let world: RegistryWorld;
beforeAll(async () => {
  source = await FakeRegistry.start();
});
beforeEach(async () => {
  source.reset();
  world = await openRegistryWorld();
});
afterEach(() => world.close());
afterAll(async () => {
  await source.stop();
  await removeScratch();
});

const call = { requestId: "r", signal: new AbortController().signal };
const installer = (rest: string) => at(`installer/${ID}/${rest}`);

describe("refusals", () => {
  const zero = `sha256:${"0".repeat(64)}`;
  test.each([
    [
      `installer/${"a".repeat(64)}/manifests/v1.13.2`,
      404,
      "NAME_UNKNOWN",
      `schematic ID "${"a".repeat(64)}" not found`,
    ],
    [
      `nope/${"a".repeat(64)}/manifests/v1.13.2`,
      404,
      "NAME_UNKNOWN",
      `schematic ID "${"a".repeat(64)}" not found`,
    ],
    [`nope/${ID}/manifests/v1.13.2`, 400, "NAME_INVALID", "invalid image: nope"],
    [`installer/${ID}/manifests/1.13.2`, 404, "MANIFEST_UNKNOWN", "manifest unknown"],
    [`installer/${ID}/manifests/vabc`, 404, "MANIFEST_UNKNOWN", "manifest unknown"],
    [`installer/${ID}/manifests/v1.13`, 404, "MANIFEST_UNKNOWN", "manifest unknown"],
    [`installer/${ID}/manifests/v1.13.2+x`, 404, "MANIFEST_UNKNOWN", "manifest unknown"],
    [`installer/${ID}/manifests/${"x".repeat(500)}`, 404, "MANIFEST_UNKNOWN", "manifest unknown"],
    [`installer/${ID}/manifests/${zero}`, 404, "MANIFEST_UNKNOWN", "manifest unknown"],
    [`installer/${ID}/manifests/sha256:zz`, 404, "DIGEST_INVALID", "invalid digest: sha256:zz"],
    [
      `installer/${ID}/manifests/sha512:${"0".repeat(128)}`,
      404,
      "DIGEST_INVALID",
      /^invalid digest: sha512:/,
    ],
    [`installer/${ID}/blobs/${zero}`, 404, "BLOB_UNKNOWN", "blob unknown to registry"],
    [`installer/${ID}/blobs/../x`, 404, "NAME_UNKNOWN", /^unknown registry path/],
    [`installer/${ID}/blobs/v1`, 404, "DIGEST_INVALID", "invalid digest: v1"],
    [`installer/${ID}/referrers/nope`, 404, "DIGEST_INVALID", "invalid referrers subject digest: nope"],
    ["siderolabs/nope/manifests/v1", 404, "NAME_UNKNOWN", "unknown image: nope"],
    ["siderolabs/imager/manifests/v9.9.9", 404, "MANIFEST_UNKNOWN", "manifest unknown"],
    ["siderolabs/imager/manifests/a:b", 404, "DIGEST_INVALID", "invalid digest: a:b"],
    [`siderolabs/imager/blobs/${zero}`, 404, "BLOB_UNKNOWN", "blob unknown to registry"],
    ["siderolabs/imager/referrers/x", 404, "DIGEST_INVALID", "invalid referrers subject digest: x"],
  ])("%s: %d %s", async (path, status, code, message) => {
    source.push("siderolabs/imager", "v1.13.2", { layers: [] });
    const { registry } = await openRegistryWeb(world, source);
    const error = await failure(
      (async () => {
        const request = at(path);
        const ask = {
          manifests: registry.manifest,
          blobs: registry.blob,
          referrers: registry.referrers,
          tags: registry.tags,
        };
        return ask[request.resource](request, call);
      })(),
    );
    expect({ status: error.status, code: ociCode(error) }).toEqual({ status, code });
    if (typeof message === "string") expect(error.message).toBe(message);
    else expect(error.message).toMatch(message);
  });

  test("say that the source is away, and when to come back", async () => {
    source.switches.down = true;
    const { registry } = await openRegistryWeb(world, source);
    const error = await failure(registry.manifest(at("siderolabs/imager/manifests/v1.13.2"), call));
    expect(error).toMatchObject({ code: "upstream_unavailable", status: 503 });
  });
});

describe("evidence", () => {
  const signature = (subject: string) => {
    const config = {
      mediaType: "application/vnd.oci.empty.v1+json",
      digest: sha256(Buffer.from("{}")),
      size: 2,
    };
    const bytes = imageManifest(config, [], { about: subject });
    return { digest: sha256(bytes), mediaType: "application/vnd.oci.image.manifest.v1+json", bytes };
  };

  test("becomes visible with the image: tag, referrer, filter", async () => {
    const { registry } = await openRegistryWeb(world, source, {
      evidence: async ({ manifests }) => {
        const subject = manifests[0]?.digest ?? "";
        const made = signature(subject);
        return {
          manifests: [
            { ...made, subject, artifactType: "application/x-signature", annotations: { by: "test" } },
          ],
          blobs: [],
          tags: [{ tag: `${subject.replace(":", "-")}.sig`, digest: made.digest, planKey: null }],
        };
      },
    });
    const { digest } = await registry.manifest(installer("manifests/v1.13.2"), call);
    const tagged = await registry.manifest(installer(`manifests/${digest.replace(":", "-")}.sig`), call);
    expect(json(tagged).annotations.about).toBe(digest);
    const referrers = installer(`referrers/${digest}`);
    const { bytes } = signature(digest);
    expect(json(await registry.referrers(referrers, call)).manifests).toEqual([
      {
        ...{ mediaType: tagged.mediaType, digest: tagged.digest, size: bytes.length },
        artifactType: "application/x-signature",
        annotations: { by: "test" },
      },
    ]);
    const of = async (artifactType: string) =>
      json(await registry.referrers(referrers, { ...call, artifactType })).manifests.length;
    expect([await of("application/x-signature"), await of("application/x-none")]).toEqual([1, 0]);
  });

  test("that cannot be made keeps the tag away", async () => {
    const failing = () => Promise.reject(new AppError("internal", "no key"));
    const { registry, rows } = await openRegistryWeb(world, source, { evidence: failing });
    await expect(registry.manifest(installer("manifests/v1.13.2"), call)).rejects.toThrow("no key");
    expect(await rows.findTag(`installer/${ID}`, "v1.13.2")).toBeNull();
  });

  test("is made again for another key, for the same image and without a build", async () => {
    const one = await openRegistryWeb(world, source, { evidenceIdentity: "key one" });
    const first = await one.registry.manifest(installer("manifests/v1.13.2"), call);
    const asked: string[] = [];
    const evidence = async ({ tag }: { tag: string }) => {
      asked.push(tag);
      return { manifests: [], blobs: [], tags: [] };
    };
    const two = await openRegistryWeb(world, source, { evidence, evidenceIdentity: "key two" });
    const second = await two.registry.manifest(installer("manifests/v1.13.2"), call);
    await two.registry.manifest(installer("manifests/v1.13.2"), call);
    expect({ digest: second.digest, asked }).toEqual({ digest: first.digest, asked: ["v1.13.2"] });
  });

  test("by a former key stays behind that of the new one, for the index and each platform", async () => {
    const pair = () => generateKeyPairSync("ec", { namedCurve: "P-256" });
    const keys = [pair(), pair()];
    const verifies = (position: number, payload: Uint8Array, signature = "") =>
      verify("sha256", payload, keys[position]?.publicKey ?? "", Buffer.from(signature, "base64"));
    const webs = await Promise.all(
      keys.map(async ({ privateKey }, position) => {
        const signer = parseOciSigningKey(
          String(privateKey.export({ type: "pkcs8", format: "pem" })),
          "test",
        );
        const missing = () => Promise.reject(new Error("not part of this test"));
        const evidence = createImageEvidence({
          ...{ signing: createImageSigning(signer), store: world.store, externalUrl: "https://factory.test" },
          ...{ sboms: { document: missing }, locks: { lock: missing, keep: missing, require: missing } },
          ...{ rows: createRegistryRepository(world.db), onError: () => {} },
        });
        return openRegistryWeb(world, source, { evidence, evidenceIdentity: `key ${position}` });
      }),
    );
    for (const { registry } of webs) await registry.manifest(installer("manifests/v1.13.2"), call);
    const registry = webs[1]?.registry ?? (await openRegistryWeb(world, source)).registry;
    const index = await registry.manifest(installer("manifests/v1.13.2"), call);
    const platforms: { digest: string }[] = json(index).manifests;
    expect(platforms).toHaveLength(2);
    for (const { digest } of [index, ...platforms]) {
      const tag = installer(`manifests/${digest.replace(":", "-")}.sig`);
      const { layers } = json(await registry.manifest(tag, call));
      const payload = await registry.blob(installer(`blobs/${layers[0].digest}`), call);
      const bytes = await readAll(await payload.open(undefined, call.signal));
      expect(bytes.toString()).toContain(digest);
      const signatures = layers.map(
        (layer: { annotations: Record<string, string> }) =>
          layer.annotations["dev.cosignproject.cosign/signature"],
      );
      expect(signatures).toHaveLength(2);
      expect([verifies(1, bytes, signatures[0]), verifies(0, bytes, signatures[1])]).toEqual([true, true]);
      expect(verifies(0, bytes, signatures[0])).toBe(false);
      const bundles = json(await registry.referrers(installer(`referrers/${digest}`), call)).manifests;
      expect(bundles).toHaveLength(2);
    }
  });

  test("of nothing is a valid, empty index", async () => {
    const { registry } = await openRegistryWeb(world, source);
    const empty = await registry.referrers(installer(`referrers/sha256:${"0".repeat(64)}`), call);
    expect(Buffer.from(empty.bytes).toString()).toBe(
      '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]}',
    );
  });
});
