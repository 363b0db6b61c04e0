/** The registry over real tables and a fake source: first pulls, second processes, gaps, evidence, and the mirror. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { parseRegistryPath, type RegistryRequest } from "../../lib/domain/registry-path.ts";
import { AppError } from "../../lib/errors/app-error.ts";
import { imageManifest } from "../../lib/formats/image-documents.ts";
import { blobKey } from "../../lib/services/source-blobs.ts";
import { createTalosctlService } from "../../lib/services/talosctl.ts";
import { makeLayer, sha256 } from "../fixtures/fake-image.ts";
import { FakeRegistry } from "../fixtures/fake-registry.ts";
import { EMPTY_SCHEMATIC_ID as ID } from "../fixtures/recipes.ts";
import {
  openRegistryWeb,
  openRegistryWorld,
  type RegistryWorld,
  readAll,
} from "../fixtures/registry-world.ts";
import { fakeRelease } from "../fixtures/releases.ts";
import { failure, openSource, removeScratch } from "../fixtures/source-images.ts";

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
const at = (path: string): RegistryRequest => {
  const request = parseRegistryPath(`/v2/${path}`);
  if (request === null) throw new Error("a path was expected");
  return request;
};
const installer = (rest: string) => at(`installer/${ID}/${rest}`);
const json = (document: { bytes: Uint8Array }) => JSON.parse(Buffer.from(document.bytes).toString());
const ociCode = (error: AppError) => error.extra.details?.ociCode;

describe("installers", () => {
  test("are built for both platforms on the first pull, and not again", async () => {
    const { registry } = await openRegistryWeb(world, source);
    const first = await registry.manifest(installer("manifests/v1.13.2"), call);
    expect(json(first).manifests.map(({ platform }: { platform: object }) => platform)).toEqual([
      { architecture: "amd64", os: "linux" },
      { architecture: "arm64", os: "linux" },
    ]);
    expect(sha256(first.bytes)).toBe(first.digest);
    const second = await registry.manifest(installer("manifests/v1.13.2"), call);
    const latest = await registry.manifest(installer("manifests/latest"), call);
    expect([second.digest, latest.digest]).toEqual([first.digest, first.digest]);
    expect(world.built).toEqual(["installer-amd64.tar", "installer-arm64.tar"]);
  });

  test("are built once for many that ask at the same time", async () => {
    const { registry } = await openRegistryWeb(world, source);
    const all = await Promise.all(
      Array.from({ length: 10 }, () => registry.manifest(installer("manifests/v1.13.2"), call)),
    );
    expect(new Set(all.map(({ digest }) => digest)).size).toBe(1);
    expect(world.built).toHaveLength(2);
  });

  test("are there at once in a second web process, manifests and blobs", async () => {
    const one = await openRegistryWeb(world, source);
    const two = await openRegistryWeb(world, source);
    const { digest } = await one.registry.manifest(installer("manifests/v1.13.2"), call);
    world.built.length = 0;
    const index = json(await two.registry.manifest(installer(`manifests/${digest}`), call));
    const manifest = json(
      await two.registry.manifest(installer(`manifests/${index.manifests[1].digest}`), call),
    );
    for (const { digest: blob, size } of [manifest.config, ...manifest.layers]) {
      const found = await two.registry.blob(installer(`blobs/${blob}`), call);
      expect(found.sizeBytes).toBe(size);
      const bytes = await readAll(await found.open(undefined, call.signal));
      expect(sha256(bytes)).toBe(blob);
      const part = await readAll(await found.open({ start: 3, end: 6 }, call.signal));
      expect(part).toEqual(bytes.subarray(3, 7));
    }
    expect((await two.registry.manifest(installer("manifests/latest"), call)).digest).toBe(digest);
    expect(world.built).toEqual([]);
  });

  test("leave a platform out when an extension lacks it, and say so", async () => {
    const layers = [await makeLayer([{ name: "manifest.yaml", content: "x" }])];
    world.extensions = [source.push("siderolabs/extension", "v1", { layers, arches: ["amd64"] }).digest];
    const { registry } = await openRegistryWeb(world, source);
    const index = json(await registry.manifest(installer("manifests/v1.13.2"), call));
    expect(index.manifests).toHaveLength(1);
    expect(index.annotations["io.casthouse.omitted.arm64"]).toMatch(
      /siderolabs\/extension@sha256:.* has no image for linux\/arm64/,
    );
    expect(world.built).toEqual(["installer-amd64.tar"]);
  });

  test("are refused with the reason when no platform can be built", async () => {
    world.extensions = [`sha256:${"1".repeat(64)}`];
    source.push("siderolabs/extension", "v1", { layers: [] });
    const { registry } = await openRegistryWeb(world, source);
    const error = await failure(registry.manifest(installer("manifests/v1.13.2"), call));
    expect(error).toMatchObject({ code: "not_found" });
    expect(error.message).toMatch(/siderolabs\/extension@sha256:1{64}/);
    expect(world.built).toEqual([]);
  });

  test("are built although the source is away, because everything may be in the caches", async () => {
    world.extensions = [`sha256:${"1".repeat(64)}`];
    source.switches.down = true;
    const { registry } = await openRegistryWeb(world, source);
    const index = json(await registry.manifest(installer("manifests/v1.13.2"), call));
    expect(index.manifests).toHaveLength(2);
  });

  test("stay as they were published while nobody can tell what they would be now", async () => {
    const { registry } = await openRegistryWeb(world, source);
    const first = await registry.manifest(installer("manifests/v1.13.2"), call);
    world.releases.delete("v1.13.2");
    expect((await registry.manifest(installer("manifests/v1.13.2"), call)).digest).toBe(first.digest);
    expect((await failure(registry.manifest(installer("manifests/v1.99.0"), call))).message).toBe(
      "error enhancing profile from schematic: failed to get base installer: version 1.99.0 is not available",
    );
  });

  test("follow a release whose images changed, and old digests stay", async () => {
    const { registry } = await openRegistryWeb(world, source);
    const first = await registry.manifest(installer("manifests/v1.13.2"), call);
    world.generation = 2;
    const second = await registry.manifest(installer("manifests/v1.13.2"), call);
    expect(second.digest).not.toBe(first.digest);
    expect((await registry.manifest(installer(`manifests/${first.digest}`), call)).bytes).toEqual(
      first.bytes,
    );
  });

  test("are built again after somebody removed a layer from the store", async () => {
    const { registry } = await openRegistryWeb(world, source);
    const index = json(await registry.manifest(installer("manifests/v1.13.2"), call));
    const manifest = json(await registry.manifest(installer(`manifests/${index.manifests[0].digest}`), call));
    const lost = manifest.layers[1].digest;
    await world.store.delete(blobKey(lost.slice("sha256:".length)));
    expect(ociCode(await failure(registry.blob(installer(`blobs/${lost}`), call)))).toBe("BLOB_UNKNOWN");
    await registry.manifest(installer("manifests/v1.13.2"), call);
    expect((await registry.blob(installer(`blobs/${lost}`), call)).sizeBytes).toBe(manifest.layers[1].size);
    expect(world.built).toHaveLength(3);
  });

  test("show a blob only in the repository it belongs to", async () => {
    const { registry } = await openRegistryWeb(world, source);
    const index = json(await registry.manifest(installer("manifests/v1.13.2"), call));
    const manifest = json(await registry.manifest(installer(`manifests/${index.manifests[0].digest}`), call));
    const other = at(`aws-installer/${ID}/blobs/${manifest.layers[1].digest}`);
    expect(ociCode(await failure(registry.blob(other, call)))).toBe("BLOB_UNKNOWN");
  });

  test("give a client without any idea of indexes the amd64 image", async () => {
    const { registry } = await openRegistryWeb(world, source);
    const index = await registry.manifest(installer("manifests/v1.13.2"), call);
    const accept = "application/vnd.docker.distribution.manifest.v2+json";
    const image = await registry.manifest(installer("manifests/v1.13.2"), { ...call, accept });
    expect(image.digest).toBe(json(index).manifests[0].digest);
    expect(
      (await registry.manifest(installer(`manifests/${index.digest}`), { ...call, accept })).digest,
    ).toBe(index.digest);
  });

  test("are listed in pages, with latest where it exists", async () => {
    const { registry } = await openRegistryWeb(world, source);
    expect(await registry.tags(installer("tags/list"), call)).toMatchObject({ tags: [], more: false });
    await registry.manifest(installer("manifests/v1.12.4"), call);
    expect((await registry.tags(installer("tags/list"), call)).tags).toEqual(["v1.12.4"]);
    await registry.manifest(installer("manifests/v1.13.2"), call);
    const page = await registry.tags(installer("tags/list"), { ...call, most: 2 });
    expect(page).toEqual({ name: `installer/${ID}`, tags: ["latest", "v1.12.4"], more: true });
    const rest = await registry.tags(installer("tags/list"), { ...call, most: 2, last: "v1.12.4" });
    expect(rest).toMatchObject({ tags: ["v1.13.2"], more: false });
  });
});

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

  test("of nothing is a valid, empty index", async () => {
    const { registry } = await openRegistryWeb(world, source);
    const empty = await registry.referrers(installer(`referrers/sha256:${"0".repeat(64)}`), call);
    expect(Buffer.from(empty.bytes).toString()).toBe(
      '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]}',
    );
  });
});

describe("the mirror", () => {
  const push = async (repository = "siderolabs/imager") =>
    source.push(repository, "v1.13.2", {
      layers: [await makeLayer([{ name: "file", content: `bytes of ${repository}` }])],
      arches: ["amd64", "arm64"],
    });

  test("passes images on unchanged, with the credentials of the factory, and asks once", async () => {
    const image = await push();
    source.switches.auth = "basic";
    source.switches.credentials = { username: "reader", password: "secret" };
    const { registry } = await openRegistryWeb(world, source, { credentials: source.switches.credentials });
    const index = await registry.manifest(at("siderolabs/imager/manifests/v1.13.2"), call);
    expect(index.digest).toBe(image.digest);
    const blob = image.layers[0]?.digest ?? "";
    for (let round = 0; round < 2; round++) {
      const found = await registry.blob(at(`siderolabs/imager/blobs/${blob}`), call);
      expect(sha256(await readAll(await found.open(undefined, call.signal)))).toBe(blob);
    }
    const range = await registry.blob(at(`siderolabs/imager/blobs/${blob}`), call);
    expect(await readAll(await range.open({ start: 2, end: 4 }, call.signal))).toHaveLength(3);
    expect(source.count(new RegExp(`^GET .*blobs/${blob}`))).toBeLessThanOrEqual(2);
    expect(await registry.tags(at("siderolabs/imager/tags/list"), call)).toMatchObject({
      name: "siderolabs/imager",
      tags: ["v1.13.2"],
    });
  });

  test("serves what it has while the source is away, also from another process", async () => {
    const image = await push();
    const one = await openRegistryWeb(world, source);
    const paths = [`blobs/${image.layers[0]?.digest}`, "manifests/v1.13.2", `manifests/${image.digest}`];
    await one.registry.manifest(at(`siderolabs/imager/${paths[1]}`), call);
    const blob = await one.registry.blob(at(`siderolabs/imager/${paths[0]}`), call);
    await readAll(await blob.open(undefined, call.signal));
    source.switches.down = true;
    const two = await openRegistryWeb(world, source);
    for (const path of paths.slice(1))
      expect((await two.registry.manifest(at(`siderolabs/imager/${path}`), call)).digest).toBe(image.digest);
    const again = await two.registry.blob(at(`siderolabs/imager/${paths[0]}`), call);
    expect(sha256(await readAll(await again.open(undefined, call.signal)))).toBe(image.layers[0]?.digest);
    expect((await two.registry.tags(at("siderolabs/imager/tags/list"), call)).tags).toEqual(["v1.13.2"]);
  });

  test("does not show what another repository of the source has", async () => {
    const secret = await push("private/extension");
    await push();
    const { registry, images } = await openRegistryWeb(world, source);
    const layer = secret.layers[0];
    if (!layer) throw new Error("no layer");
    await images.blob("private/extension", layer);
    const error = await failure(registry.blob(at(`siderolabs/imager/blobs/${layer.digest}`), call));
    expect(ociCode(error)).toBe("BLOB_UNKNOWN");
  });

  test("cuts the answer when the source sends other bytes, and keeps nothing", async () => {
    const image = await push();
    const digest = image.layers[0]?.digest ?? "";
    const body = Buffer.alloc(image.layers[0]?.size ?? 0, "x");
    source.switches.faults.push({ match: new RegExp(`GET .*${digest}`), body });
    const { registry, rows } = await openRegistryWeb(world, source);
    const found = await registry.blob(at(`siderolabs/imager/blobs/${digest}`), call);
    await expect(readAll(await found.open(undefined, call.signal))).rejects.toThrow(/has digest/);
    expect(await rows.findBlob("siderolabs/imager", digest)).toBeNull();
    expect(await world.store.head(blobKey(digest.slice("sha256:".length)))).toBeNull();
  });

  test("finds referrers under the fallback tag of older registries", async () => {
    const image = await push();
    const fallback = source.push("siderolabs/imager", image.digest.replace(":", "-"), {
      layers: [],
      arches: ["amd64"],
    });
    const { registry } = await openRegistryWeb(world, source);
    const path = at(`siderolabs/imager/referrers/${image.digest}`);
    expect((await registry.referrers(path, call)).digest).toBe(fallback.digest);
    const filtered = await registry.referrers(path, { ...call, artifactType: "application/x-none" });
    expect(json(filtered).manifests).toEqual([]);
  });
});

describe("talosctl", () => {
  const push = async (names: string[], tag = "v1.13.2") =>
    source.push("siderolabs/talosctl-all", tag, {
      layers: [await makeLayer(names.map((name) => ({ name, content: `program ${name} ${tag}` })))],
    });
  const service = async () => {
    const { images } = await openSource(source.url);
    const { store, dir } = world;
    const require = async (version: string) => {
      const release = world.releases.get(version);
      if (!release) throw new AppError("not_found", `version ${version.slice(1)} is not available`);
      return release;
    };
    return createTalosctlService({ releases: { require }, images, store, scratchDir: `${dir}/scratch` });
  };

  test("lists and serves the files of the image, unpacked once for all processes", async () => {
    await push(["talosctl-linux-arm64", "talosctl-linux-amd64", "talosctl-windows-amd64.exe", "README"]);
    const one = await service();
    expect((await one.list("v1.13.2")).files.map(({ name }) => name)).toEqual([
      "talosctl-linux-amd64",
      "talosctl-linux-arm64",
      "talosctl-windows-amd64.exe",
    ]);
    const layers = /^GET .*talosctl-all\/blobs/;
    const fetched = source.count(layers);
    const two = await service();
    const file = await two.require("v1.13.2", "talosctl-linux-amd64");
    expect((await readAll(await two.open(file))).toString()).toBe("program talosctl-linux-amd64 v1.13.2");
    expect((await readAll(await two.open(file, { start: 0, end: 6 }))).toString()).toBe("program");
    expect(source.count(layers)).toBe(fetched);
  });

  test("answers from the store while the source is away", async () => {
    await push(["talosctl-linux-amd64"]);
    await (await service()).list("v1.13.2");
    source.switches.down = true;
    expect((await (await service()).list("v1.13.2")).files).toHaveLength(1);
  });

  test.each(["../v1.13.2.json", "talosctl-plan9-amd64", "passwd", "", "talosctl-linux-amd64/../x"])(
    "has no file %j",
    async (name) => {
      await push(["talosctl-linux-amd64"]);
      expect(await failure((await service()).require("v1.13.2", name))).toMatchObject({ code: "not_found" });
    },
  );

  test("has nothing for releases that offer none, and refuses strange images", async () => {
    world.releases.set("v1.10.7", fakeRelease("v1.10.7"));
    const talosctl = await service();
    expect(await talosctl.list("v1.10.7")).toEqual({ version: "v1.10.7", files: [] });
    const missing = await failure(talosctl.require("v1.10.7", "talosctl-linux-amd64"));
    expect(missing.message).toBe("version 1.10.7 is not available");
    source.push("siderolabs/talosctl-all", "v0", { layers: [] });
    expect((await failure(talosctl.list("v1.13.2"))).message).toBe("version 1.13.2 is not available");
    await push(["talosctl-linux"]);
    expect(await failure((await service()).list("v1.13.2"))).toMatchObject({ code: "source_invalid" });
  });
});
