/** Images of the source and talosctl through the registry: unchanged, verified, kept, and there while the source is away. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../lib/errors/app-error.ts";
import { createTalosctlService } from "../../lib/services/assets/talosctl.ts";
import { blobKey } from "../../lib/services/inputs/source-blobs.ts";
import { makeLayer, sha256 } from "../fixtures/fake-image.ts";
import { FakeRegistry } from "../fixtures/fake-registry.ts";
import {
  registryRequest as at,
  documentJson as json,
  ociCode,
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
    await images.platformManifest("private/extension", secret.digest, "amd64");
    const { registry: another } = await openRegistryWeb(world, source);
    for (const process of [registry, another]) {
      const asked = process.manifest(at(`siderolabs/imager/manifests/${secret.digest}`), call);
      expect(ociCode(await failure(asked))).toBe("MANIFEST_UNKNOWN");
    }
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
