/** What is read out of source images: their own documents and manifest, nothing that a link points at, once per image. */
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createSbomSources } from "../../../../lib/services/evidence/sbom-sources.ts";
import { DirectoryStore } from "../../../../lib/storage/directory-store.ts";
import { makeLayer } from "../../../fixtures/fake-image.ts";
import { FakeRegistry } from "../../../fixtures/fake-registry.ts";
import { openSource, removeScratch, scratchFolder } from "../../../fixtures/source-images.ts";

let fake: FakeRegistry;
beforeAll(async () => {
  fake = await FakeRegistry.start();
});
afterEach(async () => {
  fake.reset();
  await removeScratch();
});
afterAll(() => fake.stop());
const SPDX = "rootfs/usr/local/share/spdx";

test("documents and manifest of an extension, without links and other files", async () => {
  const scratch = await scratchFolder();
  await writeFile(join(scratch, "secret"), "of the host");
  const { images } = await openSource(fake.url);
  const layer = await makeLayer([
    { name: "manifest.yaml", content: "version: v1alpha1\n" },
    { name: `${SPDX}/b.spdx.json`, content: '{"b":1}' },
    { name: `${SPDX}/a.spdx.json`, content: '{"a":1}' },
    { name: `${SPDX}/link.spdx.json`, type: "symlink", linkname: join(scratch, "secret") },
    { name: `${SPDX}/notes.txt`, content: "no document" },
    { name: "rootfs/usr/bin/big", content: "x".repeat(10_000) },
  ]);
  const { digest } = await fake.push("siderolabs/agent", "1", { layers: [layer], arches: ["amd64"] });
  const store = new DirectoryStore(join(scratch, "objects"));
  const open = () => createSbomSources({ images, store, scratchDir: join(scratch, "work") });
  const source = { repository: "siderolabs/agent", digest, arch: "amd64" as const };
  const expected = {
    documents: [
      { path: `${SPDX}/a.spdx.json`, text: '{"a":1}' },
      { path: `${SPDX}/b.spdx.json`, text: '{"b":1}' },
    ],
    manifest: "version: v1alpha1\n",
  };
  expect(await open().read(source)).toEqual(expected);
  expect(await readdir(join(scratch, "work"))).toEqual([]);
  fake.switches.down = true;
  expect(await open().read(source)).toEqual(expected);
  await expect(open().read({ ...source, arch: "arm64" })).rejects.toThrow("arm64");
});

test("the imager's document of the wanted architecture only", async () => {
  const scratch = await scratchFolder();
  const { images } = await openSource(fake.url);
  const files = ["amd64", "arm64"].map((arch) => ({
    name: `usr/install/${arch}/talos.spdx.json`,
    content: arch,
  }));
  const layers = [await makeLayer(files)];
  const { digest } = await fake.push("siderolabs/imager", "v1", { layers, arches: ["amd64", "arm64"] });
  const store = new DirectoryStore(join(scratch, "objects"));
  const sources = createSbomSources({ images, store, scratchDir: join(scratch, "work") });
  const { documents, manifest } = await sources.read({
    repository: "siderolabs/imager",
    digest,
    arch: "arm64",
  });
  expect(documents).toEqual([{ path: "usr/install/arm64/talos.spdx.json", text: "arm64" }]);
  expect(manifest).toBeNull();
});

test("documents that are too large, or too many, are left out", async () => {
  const scratch = await scratchFolder();
  const { images } = await openSource(fake.url);
  const many = Array.from({ length: 60 }, (_, index) => ({
    name: `${SPDX}/m${String(index).padStart(2, "0")}.spdx.json`,
    content: `{"m":${index}}`,
  }));
  const large = { name: `${SPDX}/large.spdx.json`, content: " ".repeat(8 * 1024 * 1024 + 1) };
  const layer = await makeLayer([{ name: "manifest.yaml", content: "version: v1alpha1\n" }, large, ...many]);
  const { digest } = await fake.push("siderolabs/agent", "1", { layers: [layer], arches: ["amd64"] });
  const store = new DirectoryStore(join(scratch, "objects"));
  const sources = createSbomSources({ images, store, scratchDir: join(scratch, "work") });
  const { documents } = await sources.read({ repository: "siderolabs/agent", digest, arch: "amd64" });
  expect(documents.map(({ text }) => text)).toEqual(many.slice(0, 50).map(({ content }) => content));
});
