import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { extract } from "tar-stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Recipe } from "../../lib/domain/recipe-types.ts";
import { AppError } from "../../lib/errors/app-error.ts";
import { createRunTool } from "../../lib/exec/run.ts";
import { parsePe } from "../../lib/formats/pe.ts";
import { packLayer } from "../../lib/imager/pack/layer.ts";
import { packFile } from "../../lib/imager/pack/pack-file.ts";
import { planAsset, planInstallerManifest } from "../../lib/imager/plan.ts";
import { readLayerPart } from "../../lib/imager/steps/layer-part.ts";
import { overlayLayerStep } from "../../lib/imager/steps/overlay-layer.ts";
import { scriptProgram } from "../../scripts/sample-release/carrier.ts";
import { makeLayer } from "../fixtures/fake-image.ts";
import {
  type BootWorkshop,
  bootRecipe,
  bootWorkshop,
  sha256,
  tool,
  writeTree,
} from "../fixtures/imager-boot-fixture.ts";
import { testKeys } from "../fixtures/secure-boot.ts";
import { vectorFile } from "../fixtures/vector-files.ts";

interface Member {
  name: string;
  type: string;
  mode: string;
  uid: number;
  gid: number;
  uname: string;
  gname: string;
  mtime: number;
  size: number;
  text?: string;
}
interface Recorded {
  tar: Member[];
  config: {
    created: string;
    history: unknown[];
    rootfs: { type: string; diff_ids: string[] };
    config: Record<string, unknown>;
  };
  layers: Member[][];
  layerGzipHeader: string[];
}

const digestOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const pinned = (repository: string) => ({ repository, digest: `sha256:${"b".repeat(64)}` });

const signer = await testKeys();
let shop: BootWorkshop;
beforeAll(async () => {
  shop = await bootWorkshop(signer.keys);
  await addBase("installer-base", 1);
  await addBase("installer", 2);
  await addBase("old-installer", 3);
});
afterAll(() => shop?.close());

/** A base image as it arrives for the steps: so many layers, with a configuration that fits. */
async function addBase(name: string, count: number): Promise<void> {
  const layers = await Promise.all(
    Array.from({ length: count }, (_, i) =>
      makeLayer([{ name: `bin/${name}-${i}`, content: "program", mode: 0o755 }]),
    ),
  );
  const facts = {
    name,
    config: {
      rootfs: { type: "layers", diff_ids: layers.map((layer) => `sha256:${digestOf(gunzipSync(layer))}`) },
      history: [{ created_by: "somebody" }],
      config: {
        Entrypoint: ["/bin/installer"],
        Env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
        Labels: { "org.opencontainers.image.title": "installer" },
        WorkingDir: "/",
      },
    },
    layers: layers.map((layer) => ({
      mediaType: "application/vnd.docker.image.rootfs.diff.tar.gzip",
      digest: `sha256:${digestOf(layer)}`,
      size: layer.length,
    })),
  };
  const files = Object.fromEntries(layers.map((layer, index) => [`layers/${index}`, layer]));
  await shop.addExtension(name, { "image.json": JSON.stringify(facts), ...files });
}

function recipe(version: string, changes: Partial<Recipe> = {}): Recipe {
  const base = /^v1\.[0-9]\./.test(version) ? "installer" : "installer-base";
  return bootRecipe("installer", { version, baseInstaller: pinned(`siderolabs/${base}`), ...changes });
}

async function membersOf(bytes: Buffer): Promise<{ member: Member; content: Buffer }[]> {
  const reader = extract();
  reader.end(bytes);
  const found: { member: Member; content: Buffer }[] = [];
  for await (const entry of reader) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry) chunks.push(chunk as Buffer);
    const { header } = entry;
    const member = {
      name: header.name,
      type: header.type === "directory" ? "dir" : String(header.type),
      mode: `0o${(header.mode ?? 0).toString(8)}`,
      uid: header.uid ?? -1,
      gid: header.gid ?? -1,
      uname: header.uname ?? "",
      gname: header.gname ?? "",
      mtime: (header.mtime?.getTime() ?? -1) / 1000,
      size: header.size ?? -1,
    };
    found.push({ member, content: Buffer.concat(chunks) });
  }
  return found;
}

async function archive(changed: Recipe) {
  const { product } = await shop.build(changed, "shared");
  const members = await membersOf(await readFile(product.path));
  const content = (name: string) =>
    members.find(({ member }) => member.name === name)?.content ?? Buffer.alloc(0);
  const [manifest] = JSON.parse(content("manifest.json").toString());
  const config = JSON.parse(content(manifest.Config).toString());
  return { path: product.path, members, content, manifest, config };
}

const anonymous = (name: string) => name.replace(/[0-9a-f]{64}/, "{DIGEST}");

const recordedInstallers = vectorFile<{ installer: Record<string, Recorded> }>("layout.json").installer;

/** What the name of an entry asks for: "v1.13.0 installer-arm64.tar overlay rpi_generic". */
async function recordedRecipe(name: string, recorded: Recorded): Promise<Recipe> {
  const [version = "", file = "", , board] = name.split(" ");
  const secureboot = file.includes("secureboot");
  const arch = file.includes("arm64") ? "arm64" : "amd64";
  const platform = file.startsWith("installer") ? "metal" : (file.split("-")[0] ?? "");
  const { profile } = bootRecipe("installer");
  return recipe(version, {
    profile: { ...profile, arch, platform, secureboot },
    ...(secureboot ? { signing: signer.keys.identity } : {}),
    ...(board === undefined ? {} : { overlay: await addBoard(board, recorded.layers[2] ?? []) }),
  });
}

/** An overlay with the recorded files, whose program knows no argument. */
async function addBoard(name: string, files: Member[]): Promise<Recipe["overlay"]> {
  const here = process.arch === "arm64" ? "arm64" : "amd64";
  const answer =
    "cat > /dev/null; echo 'name: x'; echo 'kernelArgs: []'; echo 'partitionOptions: {offset: 0}'";
  const program = `installers/${name}`;
  await shop.addExtension(name, {
    [program]: scriptProgram(here, await readFile("/bin/busybox"), name, answer),
    ...Object.fromEntries(
      files
        .filter((file) => file.type === "file" && file.name.startsWith("overlay/artifacts/"))
        .map((file) => [file.name.slice("overlay/".length), Buffer.alloc(file.size)]),
    ),
  });
  await tool("chmod", "755", join(shop.dir, "extensions", name, program));
  const entry = { name, image: `siderolabs/${name}`, ref: name, digest: `sha256:${name}` };
  return { entry, options: { configTxtAppend: "a=1" } };
}

/** Sizes of inputs, of what is made of them and of what is signed; modes of boot files (docs/compat.md, I1). */
const comparable = ({ size, text, name, ...rest }: Member) => ({
  ...rest,
  name: anonymous(name),
  ...(name.startsWith("usr/install/") ? { mode: "0o644" } : {}),
  ...(/^overlay\/(artifacts|extra)/.test(name) ? { size } : {}),
  ...(text === undefined || name === "manifest.json" ? {} : { text }),
});

it("installers come in six recorded forms", () => {
  expect(Object.keys(recordedInstallers)).toHaveLength(6);
});

it.each(Object.entries(recordedInstallers))("%s is put together as recorded", async (name, recorded) => {
  const { members, manifest, config, content } = await archive(await recordedRecipe(name, recorded));
  expect(members.map(({ member }) => comparable(member))).toEqual(recorded.tar.map(comparable));
  expect(Object.keys(manifest)).toEqual(Object.keys(JSON.parse(recorded.tar.at(-1)?.text ?? "")[0]));
  expect(manifest.RepoTags).toEqual(JSON.parse(recorded.tar.at(-1)?.text ?? "")[0].RepoTags);
  // Labels say more here (I4), and the time is fixed (I3).
  const { created, rootfs, config: own, ...facts } = recorded.config;
  const { Labels, ...settings } = config.config;
  const { Labels: _known, ...wanted } = own;
  expect(settings).toEqual(wanted);
  expect(Labels).toMatchObject({ "org.opencontainers.image.title": "installer" });
  expect(Object.keys(config)).toEqual(Object.keys(recorded.config));
  expect(config).toMatchObject({ ...facts, created: "2019-06-01T21:34:52Z" });
  expect([config.rootfs.type, config.rootfs.diff_ids.length]).toEqual([rootfs.type, rootfs.diff_ids.length]);
  expect(created).not.toBe(config.created);
  // The first layer is the base's own.
  expect(manifest.Layers).toHaveLength(recorded.layers.length);
  for (const [index, layer] of recorded.layers.entries()) {
    if (index === 0) continue;
    const bytes = content(manifest.Layers[index]);
    expect(bytes.subarray(0, 10).toString("hex")).toBe(recorded.layerGzipHeader[index]);
    const files = await membersOf(gunzipSync(bytes));
    const seen = files.map(({ member, content: inside }) =>
      comparable(member.name.endsWith("extra-options") ? { ...member, text: inside.toString() } : member),
    );
    expect(seen).toEqual(layer.map(comparable));
  }
});

describe.each(["v1.9.5", "v1.13.0"])("installer of %s", (version) => {
  it("says the truth about every digest", async () => {
    const { manifest, config, content } = await archive(recipe(version));
    expect(manifest.Config).toBe(`sha256:${digestOf(content(manifest.Config))}`);
    expect(manifest.Layers).toHaveLength(2);
    for (const [index, name] of manifest.Layers.entries()) {
      expect(name).toBe(`${digestOf(content(name))}.tar.gz`);
      expect(config.rootfs.diff_ids[index]).toBe(`sha256:${digestOf(gunzipSync(content(name)))}`);
    }
  });

  it("is read by skopeo", async () => {
    const { path } = await archive(recipe(version));
    const seen = JSON.parse(await tool("skopeo", "inspect", `docker-archive:${path}`));
    expect(seen).toMatchObject({ Architecture: "amd64", Os: "linux", Created: "2019-06-01T21:34:52Z" });
    expect(seen.Labels).toMatchObject({
      "org.opencontainers.image.title": "installer",
      "org.opencontainers.image.version": version,
      "io.casthouse.schematic": "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba",
      "io.casthouse.platform": "metal",
      "io.casthouse.factory": "http://127.0.0.1:8090/",
    });
  });
});

describe("content", () => {
  const uki = async (changes: Partial<Recipe> = {}) => {
    const { content, manifest } = await archive(recipe("v1.13.0", changes));
    const files = await membersOf(gunzipSync(content(manifest.Layers.at(-1))));
    return files.find(({ member }) => member.name.endsWith("vmlinuz.efi"))?.content ?? Buffer.alloc(0);
  };

  it("has a second entry that resets the machine, both with the arguments of the schematic", async () => {
    const bytes = await uki({ extraKernelArgs: ["net.ifnames=0"] });
    const lines = parsePe(bytes)
      .sections.filter(({ name }) => name === ".cmdline")
      .map(({ rawOffset, virtualSize }) => bytes.subarray(rawOffset, rawOffset + virtualSize).toString());
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/ net\.ifnames=0$/);
    expect(lines[1]).toBe(`${lines[0]} talos.experimental.wipe=system:EPHEMERAL,STATE`);
  });

  it("G108 keeps all layers of a base that has not exactly two", async () => {
    const { manifest } = await archive(
      recipe("v1.9.5", { baseInstaller: pinned("siderolabs/old-installer") }),
    );
    expect(manifest.Layers).toHaveLength(4);
  });

  it("is equal bytes when it is built again without anything from before", async () => {
    const first = await shop.build(recipe("v1.13.0"));
    const second = await shop.build(recipe("v1.13.0"));
    expect(await sha256(second.product.path)).toBe(await sha256(first.product.path));
  });

  it("compresses nothing again when an argument changes", async () => {
    await shop.build(recipe("v1.13.0"), "warm");
    const { events } = await shop.build(recipe("v1.13.0", { extraKernelArgs: ["nosmt"] }), "warm");
    const done = events.flatMap((event) => (event.type === "phase" && !event.cached ? [event.title] : []));
    expect(done).not.toContain("Compress the kernel");
    expect(done).toContain("Pack the boot files into a layer");
  });
});

describe("the manifest for the registry", () => {
  it("names configuration and layers that lie beside it, and shares its layers with the archive", async () => {
    const { product } = await shop.buildPlan(planInstallerManifest(recipe("v1.13.0")), "shared");
    const manifest = JSON.parse(await readFile(product.path, "utf8"));
    const named = [manifest.config, ...manifest.layers];
    expect(manifest.mediaType).toBe("application/vnd.oci.image.manifest.v1+json");
    expect(product.blobs?.map(({ digest }) => digest)).toEqual(named.map(({ digest }) => digest));
    for (const [index, { path, digest }] of (product.blobs ?? []).entries()) {
      const bytes = await readFile(path);
      expect({ digest: `sha256:${digestOf(bytes)}`, size: bytes.length }).toEqual({
        digest,
        size: named[index].size,
      });
    }
    const other = await archive(recipe("v1.13.0"));
    const names = named.slice(1).map(({ digest }) => `${digest.slice(7)}.tar.gz`);
    expect(other.manifest).toMatchObject({ Config: manifest.config.digest, Layers: names });
    expect(manifest.annotations).toMatchObject({ "io.casthouse.version": "v1.13.0" });
  });

  it("has another key than the archive, and the same for equal recipes", () => {
    const key = planInstallerManifest(recipe("v1.13.0")).key;
    expect(planInstallerManifest(recipe("v1.13.0")).key).toBe(key);
    expect(planAsset(recipe("v1.13.0")).key).not.toBe(key);
  });
});

describe("layers", () => {
  const context = (dir: string) => ({
    dir,
    run: createRunTool(),
    signal: new AbortController().signal,
    log: () => {},
    progress: () => {},
  });

  it("hold the same tar whether a piece is packed here or was before", async () => {
    const kernel = join(shop.dir, "vmlinuz");
    const { product } = await shop.build(recipe("v1.13.0"), "shared");
    const size = (await readFile(product.path)).length;
    const member = { name: "image", kind: "file" as const, mode: 0o644 };
    const known = [{ source: kernel, packed: join(shop.dir, "kernel.gz") }];
    const pieces = { path: kernel, format: ".gz", name: null, known: [] } as const;
    await packFile({ ...pieces, output: join(shop.dir, "kernel.gz") }, context(shop.dir));
    const [plain, reused] = await Promise.all(
      [[], known].map((known, index) =>
        packLayer(
          [{ ...member, content: { file: product.path, sizeBytes: size, known } }],
          join(shop.dir, `layer-${index}`),
          context(shop.dir),
        ),
      ),
    );
    expect(reused?.diffId).toBe(plain?.diffId);
    const bytes = await readFile(join(shop.dir, "layer-1"));
    expect(`sha256:${digestOf(bytes)}`).toBe(reused?.digest);
    expect(`sha256:${digestOf(gunzipSync(bytes))}`).toBe(reused?.diffId);
    expect(bytes.length).toBeLessThan(gzipSync(gunzipSync(bytes), { level: 0 }).length);
  });

  it("of an overlay are laid out as recorded, links followed inside the image only", async () => {
    const recorded = vectorFile<{ installer: Record<string, Recorded> }>("layout.json").installer[
      "v1.13.0 installer-arm64.tar overlay rpi_generic"
    ];
    const tree = join(shop.dir, "overlay");
    const wanted = recorded?.layers[2] ?? [];
    const files = wanted.filter(({ type, name }) => type === "file" && name.startsWith("overlay/artifacts/"));
    await writeTree(tree, {
      ...Object.fromEntries(
        files.map(({ name, size }) => [name.slice("overlay/".length), Buffer.alloc(size)]),
      ),
      "installers/rpi_generic": Buffer.alloc(649),
      "profiles/rpi_generic.yaml": "x: y\n",
    });
    await tool("chmod", "755", join(tree, "installers/rpi_generic"));
    const ctx = { ...context(join(shop.dir, "overlay-step")) };
    await tool("mkdir", ctx.dir);
    const params = { name: "rpi_generic", options: "configTxtAppend: a=1\n" };
    const product = await overlayLayerStep(params, [{ path: tree, shape: "tree" }], ctx);
    const { path } = await readLayerPart(product);
    const members = await membersOf(gunzipSync(await readFile(path)));
    expect(members.map(({ member }) => member)).toEqual(wanted.map(({ text: _, ...member }) => member));
    expect(members.find(({ member }) => member.name === "overlay/extra-options")?.content.toString()).toBe(
      params.options,
    );

    await writeTree(tree, { "artifacts/passwd": { linkTo: "/etc/passwd" } });
    await tool("rm", "-r", ctx.dir);
    await tool("mkdir", ctx.dir);
    await expect(overlayLayerStep(params, [{ path: tree, shape: "tree" }], ctx)).rejects.toThrow(
      /points to nothing/,
    );
    await expect(
      overlayLayerStep({ ...params, name: "../../etc/passwd" }, [{ path: tree, shape: "tree" }], ctx),
    ).rejects.toBeInstanceOf(AppError);
  });
});
