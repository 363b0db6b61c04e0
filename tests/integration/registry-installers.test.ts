/** Installers in the registry over real tables: first pulls, second processes, gaps, moved releases. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { blobKey } from "../../lib/services/inputs/source-blobs.ts";
import { makeLayer, sha256 } from "../fixtures/fake-image.ts";
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
