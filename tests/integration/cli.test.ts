/** The command casthouse, started as people start it, in empty folders and without servers. */
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { buffer } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { z } from "zod";
import { readEnvironment } from "../../lib/config/environment.ts";
import { loadConfig } from "../../lib/config/load.ts";
import { createRuntime } from "../../lib/runtime/runtime.ts";
import { ensureSampleRelease, startSampleRegistry } from "../../scripts/sample-release/index.ts";
import type { SampleRegistry } from "../../scripts/sample-release/registry.ts";
import { killHard, temporaryFolder } from "../fixtures/build-world.ts";
import { createMigratedDatabase } from "../fixtures/postgres.ts";
import { createTestRedis } from "../fixtures/redis.ts";

const VERSION = "v1.13.2";
const SCHEMATIC = `customization:
    extraKernelArgs:
        - panic=30
    systemExtensions:
        officialExtensions:
            - siderolabs/qemu-guest-agent
`;
const MAIN = resolve("cli/main.ts");
const TSX = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;

let registry: SampleRegistry;
let root: string;
let counter = 0;
/** What the service made and said. */
let service: { sha256: string; assetKey: string; schematicId: string };

beforeAll(async () => {
  const { registryDir } = await ensureSampleRelease();
  registry = await startSampleRegistry({ registryDir });
  root = await mkdtemp(join(tmpdir(), "casthouse-cli-"));
  service = await askService();
}, 400_000);
afterAll(async () => {
  await registry.stop();
  await rm(root, { recursive: true, force: true });
});

/** The ISO by a web process and a worker process with their own database, queue and store. */
async function askService(): Promise<typeof service> {
  const { dir, remove } = await temporaryFolder();
  const variables = {
    PATH: process.env.PATH ?? "",
    DATABASE_URL: await createMigratedDatabase(),
    REDIS_URL: (await createTestRedis()).url,
    DATA_DIR: dir,
    SOURCE_REGISTRY: registry.url,
    LOG_LEVEL: "silent",
  };
  const loaded = loadConfig({ ...readEnvironment(), variables });
  if (!loaded.ok) throw new Error(loaded.problems.map((problem) => problem.message).join());
  const { services, close } = await createRuntime(loaded.config, "web");
  const args = ["--import", "tsx", "workers/main.ts"];
  const worker = spawn(process.execPath, args, { env: { ...process.env, ...variables }, stdio: "ignore" });
  try {
    const { id: schematicId } = await services.schematics.create(SCHEMATIC);
    const asset = await services.assets.resolve({ schematicId, version: VERSION, path: "metal-amd64.iso" });
    const signal = AbortSignal.timeout(120_000);
    const { sha256 } = await services.assets.ensure(asset, { requestId: "test", signal });
    return { sha256, assetKey: asset.assetKey, schematicId };
  } finally {
    await killHard(worker);
    await close();
    await remove();
  }
}

interface Ended {
  code: number | null;
  out: Buffer;
  err: string;
  dir: string;
}

/** Runs the command in a new empty folder; downloads are shared between the tests. */
async function casthouse(args: string[], stdin = "", files: Record<string, string> = {}): Promise<Ended> {
  const dir = join(root, `run-${counter++}`);
  await mkdir(dir);
  for (const [name, content] of Object.entries(files)) await writeFile(join(dir, name), content);
  const { PATH, NODE_ENV } = process.env;
  const env = { PATH, NODE_ENV, HOME: root, SOURCE_REGISTRY: registry.url };
  const child = spawn(process.execPath, ["--import", TSX, MAIN, ...args], { cwd: dir, env });
  child.stdin.end(stdin);
  const [out, err, code] = await Promise.all([
    buffer(child.stdout),
    buffer(child.stderr),
    new Promise<number | null>((settle) => child.once("close", settle)),
  ]);
  return { code, out, err: err.toString(), dir };
}

const tool = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
const sha256 = (file: string): string => createHash("sha256").update(readFileSync(file)).digest("hex");

/** The extension that names the schematic, as a tar, which is how the public service hands it to its imager. */
async function schematicTar(): Promise<string> {
  const tree = join(root, "schematic-extension");
  const folder = join(tree, "rootfs/usr/local/share/schematic");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, service.schematicId), "");
  const metadata = {
    name: "schematic",
    version: service.schematicId,
    author: "Image Factory (http://localhost:3000)",
    description: "Virtual extension which specifies the schematic of the image built with schematic.",
    compatibility: { talos: { version: ">= 1.0.0" } },
    extraInfo: SCHEMATIC,
  };
  await writeFile(join(tree, "manifest.yaml"), stringify({ version: "v1alpha1", metadata }));
  const file = join(root, "schematic.tar");
  tool("tar", "-cf", file, "--owner=0", "--group=0", "-C", tree, "manifest.yaml", "rootfs");
  return file;
}

/** Reference of the sample's image for a board. */
async function boardReference(name: string): Promise<string> {
  const host = new URL(registry.url).host;
  const catalog = `docker://${host}/siderolabs/overlays:${VERSION}`;
  const folder = join(root, `overlays-${name}`);
  tool("skopeo", "copy", "--src-tls-verify=false", "-q", catalog, `dir:${folder}`);
  const { layers } = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
  const file = join(folder, layers[0].digest.slice("sha256:".length));
  const { overlays } = z
    .object({ overlays: z.array(z.object({ name: z.string(), image: z.string(), digest: z.string() })) })
    .parse(parse(tool("tar", "-xOf", file, "overlays.yaml")));
  const found = overlays.find((overlay) => overlay.name === name);
  return `${found?.image.replace(/:[^:]*$/, "")}@${found?.digest}`;
}

describe("casthouse imager", () => {
  it("makes the bytes of the service from the same schematic", async () => {
    const files = { "schematic.yaml": SCHEMATIC };
    const args = ["imager", "iso", "--arch", "amd64", "--output-kind", "iso", "--talos-version", VERSION];
    const { code, err, dir } = await casthouse([...args, "--schematic", "schematic.yaml"], "", files);
    expect([code, err]).toEqual([0, expect.stringContaining(`made ${join(dir, "metal-amd64.iso")}`)]);
    expect(readdirSync(dir).sort()).toEqual(["metal-amd64.iso", "schematic.yaml"]);
    expect(sha256(join(dir, "metal-amd64.iso"))).toBe(service.sha256);
  });

  it("makes the bytes of the service from a profile with a layout folder and a tar", async () => {
    const layout = join(root, "agent.oci");
    const host = new URL(registry.url).host;
    const plan = await casthouse(["plan", "schematic.yaml", VERSION, "metal-amd64.iso"], "", {
      "schematic.yaml": SCHEMATIC,
    });
    const inputs = z
      .object({ plan: z.object({ inputs: z.array(z.object({ id: z.string(), digest: z.string() })) }) })
      .parse(JSON.parse(plan.out.toString())).plan.inputs;
    const digest = inputs.find(({ id }) => id === "extension-image-0")?.digest;
    const source = `docker://${host}/siderolabs/qemu-guest-agent@${digest}`;
    tool("skopeo", "copy", "--all", "--src-tls-verify=false", "-q", source, `oci:${layout}`);
    const profile = {
      ...{ baseProfileName: "iso", arch: "amd64", version: VERSION },
      customization: { extraKernelArgs: ["panic=30"] },
      input: { systemExtensions: [{ ociPath: layout }, { tarballPath: await schematicTar() }] },
    };
    const { code, err, dir } = await casthouse(["imager", "-", "--output", "made"], stringify(profile));
    expect([code, err]).toEqual([0, expect.stringContaining("made/metal-amd64.iso")]);
    expect(sha256(join(dir, "made/metal-amd64.iso"))).toBe(service.sha256);
  });

  it("G76 leaves an initramfs without extensions as it is, and takes files by path", async () => {
    const files = { stock: "not really an initramfs" };
    const profile = {
      ...{ arch: "amd64", platform: "metal", version: VERSION },
      input: { initramfs: { path: "stock" } },
      output: { kind: "initramfs", outFormat: "raw" },
    };
    const { code, dir } = await casthouse(["imager", "-"], stringify(profile), files);
    expect(code).toBe(0);
    expect(readFileSync(join(dir, "initramfs-metal-amd64.xz"), "utf8")).toBe(files.stock);
  });

  it("takes a board's own profile out of its overlay", async () => {
    const tree = join(root, "board");
    await mkdir(join(tree, "profiles"), { recursive: true });
    const board = { platform: "metal", arch: "arm64", output: { kind: "kernel", outFormat: "raw" } };
    await writeFile(join(tree, "profiles/board.yaml"), stringify(board));
    tool("tar", "-cf", join(root, "board.tar"), "-C", tree, "profiles");
    const profile = {
      ...{ baseProfileName: "board", arch: "arm64", version: VERSION },
      input: { kernel: { path: "kernel" } },
      overlay: { name: "board", image: { tarballPath: join(root, "board.tar") } },
    };
    const { code, err, dir } = await casthouse(["imager", "-"], stringify(profile), { kernel: "kernel" });
    expect([code, err]).toEqual([0, expect.stringContaining("kernel-arm64")]);
    expect(readdirSync(dir).sort()).toEqual(["kernel", "kernel-arm64"]);
  });

  it("puts the files of overlayInstaller into an installer, under the name its base was given", async () => {
    const tree = join(root, "board-files");
    await mkdir(join(tree, "installers"), { recursive: true });
    await mkdir(join(tree, "artifacts/arm64"), { recursive: true });
    await writeFile(join(tree, "installers/rpi_generic"), "program for arm64", { mode: 0o755 });
    await writeFile(join(tree, "artifacts/arm64/mine.txt"), "mine");
    tool("tar", "-cf", join(root, "board-files.tar"), "-C", tree, "installers", "artifacts");
    const base = `${new URL(registry.url).host}/siderolabs/installer-base:${VERSION}`;
    const profile = {
      ...{ baseProfileName: "installer", arch: "arm64", version: VERSION, name: "My Talos" },
      input: {
        baseInstaller: { imageRef: base, forceInsecure: true },
        overlayInstaller: { tarballPath: join(root, "board-files.tar") },
      },
      overlay: { name: "rpi_generic", image: { imageRef: await boardReference("rpi_generic") } },
    };
    const { code, err, dir } = await casthouse(["imager", "-"], stringify(profile));
    expect([code, err]).toEqual([0, expect.stringContaining("installer-arm64.tar")]);
    const archive = join(dir, "installer-arm64.tar");
    const [manifest] = JSON.parse(tool("tar", "-xOf", archive, "manifest.json"));
    expect(manifest.RepoTags).toEqual([base]);
    const layer = (at: number, ...args: string[]) =>
      tool("sh", "-c", `tar -xOf "$0" "$1" | tar "$2" "$3"`, archive, manifest.Layers.at(at), ...args);
    expect(layer(-1, "-tz", "--no-recursion").trim().split("\n")).toEqual([
      "overlay/artifacts/arm64",
      "overlay/artifacts/arm64/mine.txt",
      "overlay/extra-options",
      "overlay/installers/default",
    ]);
    expect(layer(-1, "-xzO", "overlay/installers/default")).toBe("program for arm64");
    const boot = tool(
      "sh",
      "-c",
      `tar -xOf "$0" "$1" | gunzip | grep -ac 'NAME="My Talos"'`,
      archive,
      manifest.Layers.at(-2),
    );
    expect(boot.trim()).toBe("1");
    const alone = await casthouse(["imager", "-"], stringify({ ...profile, overlay: {} }));
    expect([alone.code, alone.err]).toEqual([2, expect.stringContaining("without overlay.image")]);
  });

  it("compresses any kind of file", async () => {
    const profile = {
      ...{ arch: "amd64", platform: "metal", version: VERSION },
      output: { kind: "kernel", outFormat: ".xz" },
    };
    const plain = await casthouse(
      ["imager", "-"],
      stringify({ ...profile, output: { kind: "kernel", outFormat: "raw" } }),
    );
    const packed = await casthouse(["imager", "-"], stringify(profile));
    expect([plain.code, packed.code]).toEqual([0, 0]);
    tool("xz", "-t", join(packed.dir, "kernel-amd64.xz"));
    tool(
      "bash",
      "-c",
      `xz -dc ${join(packed.dir, "kernel-amd64.xz")} | cmp - ${join(plain.dir, "kernel-amd64")}`,
    );
  });

  it("writes an archive to standard output and nothing else", async () => {
    const args = ["imager", "metal", "--output-kind", "cmdline", "--talos-version", "v1.14.0-beta.1"];
    const flags = ["--platform", "aws", "--arch", "arm64", "--extra-kernel-arg", "a=b", "--meta", "0xa=foo"];
    const { code, out, err, dir } = await casthouse([...args, ...flags, "--tar-to-stdout"]);
    expect([code, err]).toEqual([0, expect.not.stringContaining("made")]);
    const archive = join(dir, "out.tar.gz");
    await writeFile(archive, out);
    expect(tool("tar", "tzf", archive)).toBe("cmdline-aws-arm64\n");
    expect(tool("tar", "xzOf", archive)).toBe(
      "talos.platform=aws console=tty1 console=ttyS0 net.ifnames=0 nvme_core.io_timeout=4294967295 slab_nomerge pti=on consoleblank=0 printk.devkmsg=on selinux=1 module.sig_enforce=1 proc_mem.force_override=never talos.environment=INSTALLER_META_BASE64=MHhhPWZvbw== a=b",
    );
  });

  it.each<[string, string[], number, string]>([
    ["no command", [], 2, "casthouse imager"],
    ["an unknown profile", ["imager", "nosuch", "--talos-version", VERSION], 2, "Known profiles"],
    ["an unknown flag", ["imager", "iso", "--nosuch"], 2, "--nosuch"],
    ["flags beside a profile document", ["imager", "-", "--arch", "amd64"], 2, "--arch has no effect"],
    ["a unified kernel image of 1.4.8", ["imager", "metal-uki", "--talos-version", "1.4.8"], 3, "1.4.8"],
    ["an image cache", ["imager", "iso", "--image-cache", "a/b", "--talos-version", VERSION], 3, "cache"],
    ["a release the source does not have", ["imager", "iso", "--talos-version", "v1.11.99"], 5, "v1.11.99"],
    ["a file that is not there", ["id", "nosuch.yaml"], 6, "nosuch.yaml"],
  ])("ends for %s with its own exit code", async (_name, args, code, words) => {
    const ended = await casthouse(args);
    expect([ended.code, ended.err]).toEqual([code, expect.stringContaining(words)]);
    expect(ended.err).not.toMatch(/\n\s+at /);
  });
});

describe("casthouse plan and id", () => {
  it("G78 gives the known ID of the empty schematic, and the service's for others", async () => {
    const empty = await casthouse(["id", "-"], "customization: {}\n");
    expect(empty.out.toString()).toBe("376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba\n");
    expect((await casthouse(["id", "-"], SCHEMATIC)).out.toString()).toBe(`${service.schematicId}\n`);
  });

  it("shows the plan of the service", async () => {
    const files = { "schematic.yaml": SCHEMATIC };
    const { code, out } = await casthouse(["plan", "schematic.yaml", VERSION, "metal-amd64.iso"], "", files);
    expect([code, JSON.parse(out.toString()).plan.key]).toEqual([0, service.assetKey]);
  });

  it("knows the empty schematic by its ID", async () => {
    const id = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba";
    const { code, out } = await casthouse(["plan", id, VERSION, "cmdline-metal-amd64"]);
    expect([code, JSON.parse(out.toString()).schematicId]).toEqual([0, id]);
  });
});
