/** Parts and inputs on disk and in the object store: whole, verified, shared, bounded. */
import { createHash } from "node:crypto";
import { chmod, mkdir, readdir, readFile, stat, symlink, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { createRunTool } from "../../lib/exec/run.ts";
import type { BuildPlan, PlanInput } from "../../lib/imager/types.ts";
import type { SourceImages } from "../../lib/oci/types.ts";
import { createInputFetcher } from "../../lib/services/inputs/input-fetcher.ts";
import { LocalCache } from "../../lib/services/inputs/local-cache.ts";
import { createPartCache } from "../../lib/services/inputs/part-cache.ts";
import { DirectoryStore } from "../../lib/storage/directory-store.ts";
import { temporaryFolder } from "../fixtures/build-world.ts";
import { fakeAsset } from "../fixtures/fake-plan.ts";

let dir: string;
let store: DirectoryStore;
const signal = new AbortController().signal;
const key = createHash("sha256").update("part").digest("hex");
const failures: unknown[] = [];

beforeEach(async () => {
  const folder = await temporaryFolder();
  onTestFinished(folder.remove);
  dir = folder.dir;
  store = new DirectoryStore(path.join(dir, "objects"));
  failures.length = 0;
});

const machine = (name: string, limits: { maxBytes?: number; minIdleMs?: number } = {}) => {
  const onError = (error: unknown) => failures.push(error);
  const { maxBytes = 1e9, minIdleMs = 0 } = limits;
  const cache = new LocalCache({ dir: path.join(dir, name), maxBytes, minIdleMs, onError });
  return { cache, parts: createPartCache({ cache, store, run: createRunTool(), onError }) };
};

async function file(name: string, text: string): Promise<string> {
  const place = path.join(dir, name);
  await writeFile(place, text);
  return place;
}

test("a file part is found on its machine at once and on another one through the store", async () => {
  const here = machine("a");
  const kept = await here.parts.keep("fake", key, { path: await file("f", "bytes"), shape: "file" }, signal);
  expect(await readFile(kept.path, "utf8")).toBe("bytes");
  expect(await here.parts.find("fake", key, signal)).toEqual(kept);
  await here.parts.close();
  const there = await machine("b").parts.find("fake", key, signal);
  expect(there?.path).toContain("/b/");
  expect(await readFile(there?.path ?? "", "utf8")).toBe("bytes");
  expect(await machine("c").parts.find("other", key, signal)).toBeNull();
  expect(failures).toEqual([]);
});

test("a tree keeps modes, links and SELinux labels, and equal trees give equal objects", async () => {
  const make = async (name: string) => {
    const tree = path.join(dir, name);
    await mkdir(path.join(tree, "usr/bin"), { recursive: true });
    await writeFile(path.join(tree, "usr/bin/tool"), "#!");
    await chmod(path.join(tree, "usr/bin/tool"), 0o755);
    await symlink("tool", path.join(tree, "usr/bin/alias"));
    return {
      path: tree,
      shape: "tree" as const,
      selinuxLabels: { "usr/bin/tool": "system_u:object_r:bin_t:s0" },
    };
  };
  const first = machine("a");
  await first.parts.keep("fake", key, await make("one"), signal);
  await first.parts.close();
  const bytes = await readFile(path.join(dir, "objects/parts/fake", key));
  await store.delete(`parts/fake/${key}.json`);
  const second = machine("b");
  await second.parts.keep("fake", key, await make("two"), signal);
  await second.parts.close();
  expect(await readFile(path.join(dir, "objects/parts/fake", key))).toEqual(bytes);
  const found = await machine("c").parts.find("fake", key, signal);
  expect(found).toMatchObject({
    shape: "tree",
    selinuxLabels: { "usr/bin/tool": "system_u:object_r:bin_t:s0" },
  });
  const tool = await stat(path.join(found?.path ?? "", "usr/bin/alias"));
  expect(tool.mode & 0o777).toBe(0o755);
});

test("damaged bytes are never given out, neither from the store nor from the disk", async () => {
  const here = machine("a");
  const kept = await here.parts.keep(
    "fake",
    key,
    { path: await file("f", "good bytes"), shape: "file" },
    signal,
  );
  await here.parts.close();
  await writeFile(kept.path, "bad  bytes");
  // A new process on the same machine reads the disk again, and takes the store's copy only when that is intact.
  expect(await machine("a").parts.find("fake", key, signal)).toBeNull();
  await store.delete(`parts/fake/${key}`);
  await store.putFile(`parts/fake/${key}`, await file("g", "good bytes"));
  const found = await machine("a").parts.find("fake", key, signal);
  expect(await readFile(found?.path ?? "", "utf8")).toBe("good bytes");
});

test("a tree or an input that lost its bytes at the same size is made anew, also one without a digest", async () => {
  const tree = async (name: string) => {
    await mkdir(path.join(dir, name));
    return path.join(await file(`${name}/f`, "good").then(() => dir), name);
  };
  const first = machine("a").cache;
  const kept = await first.keep("inputs/tree", await tree("t"), { shape: "tree", sha256: null });
  const input = await first.keep("inputs/file", await file("i", "good"), { shape: "file", sha256: null });
  expect(await machine("a").cache.find("inputs/tree")).toMatchObject({ path: kept.path });
  await writeFile(path.join(kept.path, "f"), "\0\0\0\0");
  await writeFile(input.path, "\0\0\0\0");
  const second = machine("a").cache;
  const both = [second.find("inputs/tree"), second.find("inputs/tree")];
  expect(await Promise.all(both)).toEqual([null, null]);
  expect(await second.find("inputs/file")).toBeNull();
  expect(failures).toHaveLength(2);
  const old = await second.keep("inputs/old", await file("o", "good"), { shape: "file", sha256: null });
  const meta = path.join(path.dirname(old.path), "meta.json");
  await writeFile(meta, JSON.stringify({ ...old.meta, sha256: null }));
  expect(await machine("a").cache.find("inputs/old")).toBeNull();
});

test("a part whose upload did not end is not there for others", async () => {
  await store.putFile(`parts/fake/${key}`, await file("f", "half"));
  expect(await machine("a").parts.find("fake", key, signal)).toBeNull();
});

test("the cache stays below its size, least used first, and spares what was used just now", async () => {
  const { cache } = machine("a", { maxBytes: 2_500, minIdleMs: 60_000 });
  const age = async (name: string, minutes: number) => {
    const at = new Date(Date.now() - minutes * 60_000);
    await utimes(path.join(dir, "a/entries", name, "meta.json"), at, at);
  };
  for (const [index, name] of ["x/one", "x/two", "x/three", "x/four"].entries()) {
    await cache.keep(name, await file(`f${index}`, "x".repeat(1_000)), { shape: "file", sha256: null });
    await cache.sweep();
  }
  expect(await readdir(path.join(dir, "a/entries/x"))).toHaveLength(4);
  await age("x/one", 5);
  await age("x/two", 10);
  await age("x/three", 2);
  await cache.sweep();
  expect((await readdir(path.join(dir, "a/entries/x"))).sort()).toEqual(["four", "three"]);
});

test("two processes that keep the same part at the same time agree", async () => {
  const [a, b] = [machine("a"), machine("a")];
  const kept = await Promise.all([
    a.parts.keep("fake", key, { path: await file("f", "same"), shape: "file" }, signal),
    b.parts.keep("fake", key, { path: await file("g", "same"), shape: "file" }, signal),
  ]);
  expect(kept[0]).toEqual(kept[1]);
  await Promise.all([a.parts.close(), b.parts.close()]);
  expect(failures).toEqual([]);
  expect(await readdir(path.join(dir, "a/tmp"))).toEqual([]);
});

test("inputs: an image is read once for all its files, builds share the work, absent files are named", async () => {
  let extractions = 0;
  const unused = () => Promise.reject(new Error("not part of this test"));
  const images: SourceImages = {
    ...{ tags: unused, resolveTag: unused, platformManifest: unused, blob: unused },
    ...{ findDigest: unused, findManifest: unused, requireVerified: unused },
    async extract(_repository, _digest, _arch, target, options = {}) {
      extractions += 1;
      await new Promise((resolve) => setTimeout(resolve, 50));
      for (const name of ["usr/a", "usr/b", "etc/c"]) {
        if (options.filter && !options.filter(name)) continue;
        await mkdir(path.join(target, path.dirname(name)), { recursive: true });
        await writeFile(path.join(target, name), name);
      }
      return { dir: target, selinuxLabels: { "usr/a": "label" } };
    },
  };
  const source = { repository: "siderolabs/imager", digest: `sha256:${key}`, arch: "amd64" } as const;
  const inputs: PlanInput[] = [
    ...["usr/a", "usr/b", "usr/absent"].map((name) => ({
      ...source,
      id: name,
      kind: "image-file" as const,
      path: name,
    })),
    { ...source, id: "tree", kind: "image-tree" },
    { ...source, id: "folder", kind: "image-folder", path: "etc" },
    { ...source, id: "empty", kind: "image-folder", path: "lib" },
    { ...source, id: "host", kind: "image-tree", arch: "host" },
  ];
  const plan: BuildPlan = { ...fakeAsset("inputs", [{}]).plan, inputs };
  const fetcher = createInputFetcher({ images, cache: machine("a").cache });
  const [one, two] = [fetcher(plan), fetcher(plan)];
  const fetch = (which: typeof one, index: number) => which(inputs[index] as PlanInput, signal);
  const got = await Promise.all([fetch(one, 0), fetch(one, 1), fetch(two, 0), fetch(two, 1)]);
  expect(await Promise.all(got.map((product) => readFile(product.path, "utf8")))).toEqual([
    ...["usr/a", "usr/b", "usr/a", "usr/b"],
  ]);
  expect(extractions).toBe(1);
  await expect(fetch(one, 2)).rejects.toMatchObject({
    code: "not_found",
    message: expect.stringContaining("usr/absent"),
  });
  expect(await readdir((await fetch(one, 4)).path)).toEqual(["c"]);
  expect(await readdir((await fetch(two, 5)).path)).toEqual([]);
  const tree = await fetch(one, 3);
  expect(tree).toMatchObject({ shape: "tree", selinuxLabels: { "usr/a": "label" } });
  const before = extractions;
  await fetch(two, 3);
  // The variant for this machine is the amd64 one that is there already, on amd64.
  if (process.arch === "x64") expect((await fetch(two, 6)).path).toBe(tree.path);
  expect(extractions).toBe(before);
});
