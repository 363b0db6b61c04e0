/** Catalog, comparison and upgrade check over a fake source: real releases service, real layers, a real object store. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { readSide } from "../../lib/domain/compare-side.ts";
import { canonicalSchematic } from "../../lib/domain/schematic-canonical.ts";
import { idOfText } from "../../lib/domain/schematic-id.ts";
import { parseSchematic } from "../../lib/domain/schematic-parse.ts";
import { AppError } from "../../lib/errors/app-error.ts";
import { createCatalogSide } from "../../lib/runtime/catalog.ts";
import { createCatalogService } from "../../lib/services/catalog/catalog.ts";
import type { CatalogSide } from "../../lib/services/catalog/contracts.ts";
import { createImageContents, MOST_FILES } from "../../lib/services/catalog/image-contents.ts";
import type { AssetService, StoredSchematic } from "../../lib/services/contracts.ts";
import { type ClosableReleaseService, createReleaseService } from "../../lib/services/releases/releases.ts";
import { DirectoryStore } from "../../lib/storage/directory-store.ts";
import { type LayerEntry, makeLayer } from "../fixtures/fake-image.ts";
import { FakeRegistry } from "../fixtures/fake-registry.ts";
import { memoryRepository, pushRelease, sourceFor } from "../fixtures/fake-source.ts";
import { failure, openSource, removeScratch } from "../fixtures/source-images.ts";

const METAL = { platform: "metal", arch: "amd64", secureboot: false } as const;

let fake: FakeRegistry;
let dir: string;
let releases: ClosableReleaseService;
let side: CatalogSide;
let stored: Map<string, StoredSchematic>;
/** Bytes of ready files by "<id> <version> <path>". */
let ready: Map<string, number>;

const create = async (text: string): Promise<StoredSchematic> => {
  const schematic = parseSchematic(text);
  const canonical = canonicalSchematic(schematic);
  const one = { id: idOfText(canonical), canonical, schematic };
  stored.set(one.id, one);
  return one;
};

/** Only what the comparison asks of assets; the key is the question itself. */
const assets: Pick<AssetService, "resolve" | "findReady"> = {
  resolve: async ({ schematicId, version, path }) => {
    if (path.endsWith(".ova")) throw new AppError("invalid_input", "not for this platform");
    return { assetKey: `${schematicId} ${version} ${path}` } as Awaited<ReturnType<AssetService["resolve"]>>;
  },
  findReady: async (assetKey) => {
    const sizeBytes = ready.get(assetKey);
    return sizeBytes === undefined
      ? null
      : { assetKey, sizeBytes, sha256: "", sha512: "", storageKey: "", builtAt: new Date(), builtInMs: 0 };
  },
};

async function open(): Promise<void> {
  const { images } = await openSource(fake.url);
  releases = createReleaseService({
    ...{ images, source: sourceFor(fake), repository: memoryRepository().repository },
    log: { info: () => undefined, warn: () => undefined },
  });
  side = createCatalogSide({
    ...{ images, releases, dataDir: dir, store: new DirectoryStore(join(dir, "objects")) },
    assets: assets as AssetService,
    schematics: { create, find: async (id) => stored.get(id) ?? null },
  });
  await releases.versions();
  await releases.idle();
}

/** Puts an extension image in place of what a release has under a name, and gives its digest. */
async function pushImage(name: string, tag: string, entries: LayerEntry[]): Promise<string> {
  const layers = [await makeLayer(entries)];
  return fake.push(`siderolabs/${name}`, tag, { layers, arches: ["amd64", "arm64"] }).digest;
}

const MANIFEST = "version: v1alpha1\nmetadata: {name: thing, version: 1.2, author: A, description: D}\n";

beforeAll(async () => {
  fake = await FakeRegistry.start();
});
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "casthouse-catalog-test-"));
  stored = new Map();
  ready = new Map();
});
afterEach(async () => {
  await releases?.close();
  fake.reset();
  await removeScratch();
  await rm(dir, { recursive: true, force: true });
});
afterAll(() => fake.stop());

describe("the catalog", () => {
  it("joins the catalogs of all releases that were read", async () => {
    await pushRelease(fake, "v1.12.4", { extensions: ["gvisor", "zfs"] });
    await pushRelease(fake, "v1.13.2", { extensions: ["gvisor"] });
    await open();
    const index = await side.catalog.index();
    expect(index).toMatchObject({ releases: ["v1.13.2", "v1.12.4"], unread: [] });
    expect(index.entries.map((entry) => [entry.name, entry.versions.map(({ talos }) => talos)])).toEqual([
      ["siderolabs/gvisor", ["v1.13.2", "v1.12.4"]],
      ["siderolabs/zfs", ["v1.12.4"]],
      ["rpi_5", ["v1.13.2", "v1.12.4"]],
      ["rpi_generic", ["v1.13.2", "v1.12.4"]],
    ]);
    expect((await side.catalog.index()).entries).toBe(index.entries);
  });

  it("does not start reading the catalogs of releases and says which were not read", async () => {
    await pushRelease(fake, "v1.12.4");
    await open();
    const known = await releases.known();
    const slow = { known: async () => known, versions: async () => ["v1.12.4", "v1.13.2"] };
    const before = fake.seen.length;
    const catalog = createCatalogService({ releases: slow, contents: noContents });
    expect(await catalog.index()).toMatchObject({ releases: ["v1.12.4"], unread: ["v1.13.2"] });
    expect(fake.seen).toHaveLength(before);
  });
});

const noContents = {
  find: async () => null,
  read: () => Promise.reject(new Error("not part of this test")),
  transferBytes: () => Promise.reject(new Error("not part of this test")),
};

describe("the contents of an image", () => {
  const imageOf = (digest: string) => ({
    ...{ talos: "v1.13.2", version: "1.0", ref: "ghcr.io/siderolabs/thing:1.0" },
    ...{ repository: "siderolabs/thing", digest },
  });

  it("are read once, kept, and given again without the source", async () => {
    await pushRelease(fake, "v1.13.2");
    const digest = await pushImage("thing", "1.0", [
      { name: "manifest.yaml", content: MANIFEST },
      { name: "rootfs/usr/local/bin/thing", content: "x".repeat(1000), mode: 0o755 },
      { name: "rootfs/usr/local/bin/alias", type: "symlink", linkname: "/etc/passwd" },
    ]);
    await open();
    const image = imageOf(digest);
    expect(await side.catalog.findContents(image, "amd64")).toBeNull();
    const blobs = () => fake.count(/GET .*siderolabs\/thing\/blobs/);
    const [contents, same] = await Promise.all([
      side.catalog.readContents(image, "amd64"),
      side.catalog.readContents(image, "amd64"),
    ]);
    expect(same).toEqual(contents);
    expect(blobs()).toBe(1);
    expect(contents.files).toEqual([
      { path: "manifest.yaml", sizeBytes: MANIFEST.length, target: null },
      { path: "rootfs/usr/local/bin/alias", sizeBytes: 0, target: "/etc/passwd" },
      { path: "rootfs/usr/local/bin/thing", sizeBytes: 1000, target: null },
    ]);
    expect(contents).toMatchObject({
      unpackedBytes: 1000 + MANIFEST.length,
      fileCount: 3,
      manifest: { name: "thing", version: "1.2", author: "A", description: "D" },
    });
    expect(contents.compressedBytes).toBe(await side.catalog.transferBytes(image, "amd64"));
    fake.switches.down = true;
    expect(await side.catalog.readContents(image, "amd64")).toEqual(contents);
    expect(await side.catalog.findContents(image, "amd64")).toEqual(contents);
  });

  it("name a part of very many files and count all of them", async () => {
    await pushRelease(fake, "v1.13.2");
    const many = Array.from({ length: MOST_FILES + 5 }, (_, at) => ({
      name: `rootfs/f${10_000 + at}`,
      content: "a",
    }));
    const digest = await pushImage("thing", "1.0", many);
    await open();
    const contents = await side.catalog.readContents(imageOf(digest), "amd64");
    expect(contents.files).toHaveLength(MOST_FILES);
    expect(contents).toMatchObject({ fileCount: MOST_FILES + 5, manifest: null });
  });

  it.each<[string, LayerEntry[], string]>([
    ["climbs out", [{ name: "../evil", content: "x" }], "source_invalid"],
    ["holds a device", [{ name: "rootfs/dev/sda", type: "block-device" }], "source_invalid"],
    ["has too many entries", Array.from({ length: 101 }, (_, at) => ({ name: `f${at}` })), "too_large"],
  ])("of an image that %s are refused, and nothing stays behind", async (_what, entries, code) => {
    await pushRelease(fake, "v1.13.2");
    const digest = await pushImage("thing", "1.0", entries);
    const { images } = await openSource(fake.url);
    const scratchDir = join(dir, "unpacking");
    const store = new DirectoryStore(join(dir, "objects"));
    const contents = createImageContents({ images, store, scratchDir, maxEntries: 100 });
    const question = { repository: "siderolabs/thing", digest, arch: "amd64" as const };
    expect((await failure(contents.read(question))).code).toBe(code);
    expect(await contents.find(question)).toBeNull();
    expect(await readdir(scratchDir)).toEqual([]);
  });
});

describe("comparing", () => {
  const written = (text: string) => readSide(text) ?? { id: null, version: null };
  const compare = (a: string, b: string) =>
    side.comparing.compare({ before: written(a), after: written(b) }, METAL, (lines) => `${lines} lines`);

  it("tells schematics, releases and ready files apart", async () => {
    await pushRelease(fake, "v1.12.4", { extensions: ["gvisor", "zfs"] });
    await pushRelease(fake, "v1.13.2", { extensions: ["gvisor"] });
    await open();
    const a = await create("customization: {extraKernelArgs: [x=1]}");
    const b = await create("customization: {systemExtensions: {officialExtensions: [siderolabs/gvisor]}}");
    ready.set(`${a.id} v1.12.4 metal-amd64.iso`, 100);
    ready.set(`${b.id} v1.13.2 metal-amd64.iso`, 120);
    ready.set(`${b.id} v1.13.2 metal-amd64.raw.zst`, 300);
    const found = await compare(`${a.id}@v1.12.4`, b.id);
    expect(found.after).toEqual({ id: b.id, version: "v1.12.4", sample: false });
    expect(found.diff.extensions).toMatchObject([{ name: "siderolabs/gvisor", change: "added" }]);
    const both = await compare(`${a.id}@v1.12.4`, `${b.id}@v1.13.2`);
    expect(both.files).toEqual([
      { path: "metal-amd64.iso", before: 100, after: 120 },
      { path: "metal-amd64.raw.zst", before: null, after: 300 },
    ]);
    expect(both.catalogs.find((change) => change.change === "removed")?.name).toBe("siderolabs/zfs");
    const only = await compare("v1.12.4", "1.13.2");
    expect(only.before.id).toBeNull();
    expect(only.files).toEqual([]);
    expect(only.diff.text.every((line) => line.change === "same")).toBe(true);
  });

  it("names what does not exist", async () => {
    await pushRelease(fake, "v1.13.2");
    await open();
    const { id } = await create("{}");
    expect((await failure(compare("ab".repeat(32), id))).message).toContain("ab".repeat(32));
    expect((await failure(compare(id, "v1.2.3"))).message).toBe("version 1.2.3 is not available");
  });
});

describe("upgrading", () => {
  const asked = (
    schematicId: string,
    changes: Partial<Parameters<CatalogSide["upgrades"]["check"]>[0]> = {},
  ) => ({
    ...{ schematicId, from: "1.12.4", to: null, target: METAL, leaveOut: [] as string[], ...changes },
  });

  it("stores the schematic that fits, and nothing before it does", async () => {
    await pushRelease(fake, "v1.12.4", { extensions: ["gvisor", "i915-ucode", "zfs"] });
    await pushRelease(fake, "v1.13.2", { extensions: ["gvisor", "i915"] });
    await pushRelease(fake, "v1.14.0-beta.1", { extensions: ["gvisor", "i915"] });
    await open();
    const names = ["zfs", "i915-ucode", "gvisor"].map((name) => `siderolabs/${name}`);
    const { id } = await create(
      JSON.stringify({ customization: { systemExtensions: { officialExtensions: names } } }),
    );
    const { to, check } = await side.upgrades.check(asked(id));
    expect(to).toBe("v1.13.2");
    expect(check.extensions.map((one) => one.state)).toEqual(["gone", "renamed", "present"]);
    expect(check.ready).toBe(false);
    expect((await failure(side.upgrades.migrate(asked(id)))).code).toBe("conflict");
    expect(stored.size).toBe(1);
    const left = asked(id, { leaveOut: ["siderolabs/zfs"] });
    const { stored: migrated, report } = await side.upgrades.migrate(left);
    expect(migrated.id).toBe(report.check.migrated.id);
    expect(migrated.schematic.customization.systemExtensions?.officialExtensions).toEqual([
      "siderolabs/i915",
      "siderolabs/gvisor",
    ]);
    expect(stored.get(migrated.id)?.canonical).toBe(report.check.migrated.canonical);
  });

  it("names versions and schematics that do not exist", async () => {
    await pushRelease(fake, "v1.13.2");
    await open();
    const { id } = await create("{}");
    expect((await failure(side.upgrades.check(asked("banana")))).code).toBe("not_found");
    expect((await failure(side.upgrades.check(asked(id)))).message).toBe("version 1.12.4 is not available");
    const report = await side.upgrades.check(asked(id, { from: null, to: "1.13.2" }));
    expect(report.check).toMatchObject({ ready: true, findings: [] });
    expect(report.commandLine).toBeNull();
  });
});
