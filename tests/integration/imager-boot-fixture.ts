/** Builds boot assets from small inputs with real tools: a kernel head, a stub, an initramfs with modules, extension trees. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { access, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Recipe } from "../../lib/domain/recipe-types.ts";
import { createRunTool } from "../../lib/exec/run.ts";
import { planAsset } from "../../lib/imager/plan.ts";
import { runPlan } from "../../lib/imager/run-plan.ts";
import type {
  BuildPlan,
  BuildProgress,
  PartCache,
  PlanInput,
  Product,
  SigningKeys,
} from "../../lib/imager/types.ts";
import { noise } from "./imager-disk-fixture.ts";

const execute = promisify(execFile);
export const KERNEL_RELEASE = "6.18.1-test";

/** Standard output of a program that checks our products. */
export async function tool(program: string, ...args: string[]): Promise<string> {
  const { stdout } = await execute(program, args, { maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}

/** A metal amd64 recipe of 1.13.0 as the domain would resolve it. */
export function bootRecipe(
  kind: "initramfs" | "uki" | "iso" | "kernel" | "cmdline" | "installer",
  changes: Partial<Recipe> = {},
): Recipe {
  return {
    version: "v1.13.0",
    profile: { kind, platform: "metal", arch: "amd64", secureboot: false, outFormat: "raw" },
    schematicId: "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba",
    schematicText: "customization: {}\n",
    externalUrl: "http://127.0.0.1:8090/",
    imager: { repository: "siderolabs/imager", digest: `sha256:${"a".repeat(64)}` },
    baseInstaller: null,
    sample: true,
    extensions: [],
    overlay: null,
    extraKernelArgs: [],
    meta: [],
    embeddedConfig: null,
    bootloader: kind === "iso" ? "dual-boot" : null,
    sectorSize: 512,
    diskSizeBytes: null,
    enrollKeys: "if-safe",
    includeWellKnownCertificates: false,
    ...changes,
  };
}

/** Catalog entries of extensions that the workshop has trees for. */
export const extensions = (...names: string[]): Recipe["extensions"] =>
  names.map((name) => ({
    name: `siderolabs/${name}`,
    ref: name,
    digest: `sha256:${name}`,
    author: "",
    description: "",
  }));

export interface BootWorkshop {
  dir: string;
  /** Adds an extension image: files by path, with labels by path. */
  addExtension: (
    name: string,
    files: Record<string, string | Buffer | { linkTo: string }>,
    labels?: Record<string, string>,
  ) => Promise<void>;
  /** A folder of the imager image that is this one. */
  addFolder: (path: string, from: string) => void;
  /** Builds with the parts of `cache` (a name; equal names share parts). */
  build: (
    recipe: Recipe,
    cache?: string,
    signal?: AbortSignal,
  ) => Promise<{ product: Product; events: BuildProgress[] }>;
  /** The same for a plan. */
  buildPlan: (
    plan: BuildPlan,
    cache?: string,
    signal?: AbortSignal,
  ) => Promise<{ product: Product; events: BuildProgress[] }>;
  close: () => Promise<void>;
}

/** A scratch folder with the inputs of a small release. */
export async function bootWorkshop(keys: SigningKeys | null = null): Promise<BootWorkshop> {
  const dir = await mkdtemp(join(tmpdir(), "imager-boot-"));
  await writeInputs(dir);
  const trees = new Map<string, Product>();
  let counter = 0;
  const shop: BootWorkshop = {
    dir,
    close: () => rm(dir, { recursive: true, force: true }),
    addExtension: async (name, files, labels = {}) => {
      const path = join(dir, "extensions", name);
      await writeTree(path, files);
      trees.set(`siderolabs/${name}`, { path, shape: "tree", selinuxLabels: labels });
    },
    addFolder: (path, from) => {
      trees.set(path, { path: from, shape: "tree" });
    },
    build: (recipe, cache, signal) => shop.buildPlan(planAsset(recipe), cache, signal),
    buildPlan: async (plan, cache = `fresh-${counter}`, signal = new AbortController().signal) => {
      const events: BuildProgress[] = [];
      const scratch = join(dir, `build-${counter++}`);
      await mkdir(scratch);
      const product = await runPlan(plan, {
        dir: scratch,
        run: createRunTool(),
        parts: folderParts(join(dir, "parts", cache)),
        fetchInput: (input) => Promise.resolve(findInput(dir, trees, input)),
        onProgress: (event) => events.push(event),
        keys,
        signal,
      });
      return { product, events };
    },
  };
  return shop;
}

function findInput(dir: string, trees: Map<string, Product>, input: PlanInput): Product {
  if (input.kind === "image-file") {
    const { arch, name } = /usr\/install\/(?<arch>[^/]+)\/(?<name>.+)/.exec(input.path)?.groups ?? {};
    const own = join(dir, `arm64-${name}`);
    return { path: arch === "arm64" && existsSync(own) ? own : join(dir, name ?? ""), shape: "file" };
  }
  if (input.kind === "image-folder") {
    return trees.get(input.path) ?? { path: join(dir, "no-such-folder"), shape: "tree" };
  }
  const tree = trees.get(input.repository);
  if (!tree) throw new Error(`no tree for ${input.repository}`);
  return tree;
}

/** A parts cache in a folder, the simplest honest one. */
export function folderParts(root: string): PartCache {
  const place = (op: string, key: string, shape: string) => join(root, op, `${key}.${shape}`);
  return {
    find: async (op, key) => {
      for (const shape of ["file", "tree"] as const) {
        const path = place(op, key, shape);
        if (
          await access(path).then(
            () => true,
            () => false,
          )
        )
          return { path, shape };
      }
      return null;
    },
    keep: async (op, key, product) => {
      const path = place(op, key, product.shape);
      await mkdir(dirname(path), { recursive: true });
      await rename(product.path, path);
      return { ...product, path };
    },
  };
}

export async function sha256(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

export async function writeTree(
  root: string,
  files: Record<string, string | Buffer | { linkTo: string }>,
): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const full = join(root, path);
    await mkdir(dirname(full), { recursive: true });
    if (typeof content === "string" || Buffer.isBuffer(content)) await writeFile(full, content);
    else await symlink(content.linkTo, full);
  }
}

export const manifest = (name: string, range = ">= v1.5.0"): string =>
  `version: v1alpha1\nmetadata:\n  name: ${name}\n  version: 20250812\n  author: Test Authors\n  description: |\n    This is ${name}\n  compatibility:\n    talos:\n      version: "${range}"\n`;

async function writeInputs(dir: string): Promise<void> {
  await writeFile(join(dir, "vmlinuz"), bzImage());
  await writeFile(join(dir, "arm64-vmlinuz"), Buffer.concat([Buffer.from("MZ"), noise(1_500_000, 3)]));
  await writeFile(
    join(dir, "systemd-boot.efi"),
    await readFile("/usr/lib/systemd/boot/efi/systemd-bootx64.efi"),
  );
  await writeFile(
    join(dir, "systemd-stub.efi"),
    strippedStub(await readFile("/usr/lib/systemd/boot/efi/linuxx64.efi.stub")),
  );
  const root = join(dir, "stock-root");
  for (const modules of ["usr/lib/modules", "lib/modules"]) {
    await writeTree(root, {
      [`${modules}/${KERNEL_RELEASE}/kernel/crypto/base.ko`]: kernelModule("base"),
      [`${modules}/${KERNEL_RELEASE}/kernel/net/user.ko`]: kernelModule("user"),
      [`${modules}/${KERNEL_RELEASE}/modules.order`]: "kernel/crypto/base.ko\nkernel/net/user.ko\n",
      [`${modules}/${KERNEL_RELEASE}/modules.builtin`]: "",
      [`${modules}/${KERNEL_RELEASE}/modules.builtin.modinfo`]: "unix.license=GPL\0unix.file=net/unix/unix\0",
    });
  }
  await tool(
    "mksquashfs",
    root,
    join(dir, "rootfs.sqsh"),
    "-all-root",
    "-noappend",
    "-quiet",
    "-no-progress",
  );
  await writeFile(join(dir, "init"), noise(200_000, 21));
  await execute(
    "sh",
    ["-c", "printf '.\\ninit\\nrootfs.sqsh\\n' | cpio -H newc -o --quiet | zstd -q > initramfs.xz"],
    { cwd: dir },
  );
}

/** Debian's stub carries a COFF symbol table behind its sections; the release's does not. */
export function strippedStub(stub: Buffer): Buffer {
  const coff = stub.readUInt32LE(0x3c) + 4;
  stub.fill(0, coff + 8, coff + 16);
  return stub;
}

function bzImage(): Buffer {
  const kernel = Buffer.concat([Buffer.alloc(0x8000), noise(1_500_000, 1)]);
  kernel[0x1f1] = 0x1f;
  kernel.write("HdrS", 0x202, "latin1");
  kernel.writeUInt16LE(0x3000, 0x20e);
  kernel.write(`${KERNEL_RELEASE} (someone@somewhere) #1 SMP\0`, 0x3200, "latin1");
  return kernel;
}

/** The smallest ELF file depmod takes for a module: sections .modinfo and names. */
export function kernelModule(name: string): Buffer {
  const info = Buffer.from(
    `license=GPL\0depends=\0name=${name}\0alias=test:${name}\0vermagic=${KERNEL_RELEASE}\0`,
  );
  const names = Buffer.from("\0.modinfo\0.shstrtab\0.symtab\0.strtab\0");
  const symbols = Buffer.alloc(24);
  const strings = Buffer.from("\0");
  const chunks = [info, names, symbols, strings];
  const offsets = chunks.map(
    (_, index) => 64 + chunks.slice(0, index).reduce((sum, chunk) => sum + align8(chunk.length), 0),
  );
  const table = 64 + chunks.reduce((sum, chunk) => sum + align8(chunk.length), 0);
  const out = Buffer.alloc(table + 5 * 64);
  Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]).copy(out);
  out.writeUInt16LE(1, 16);
  out.writeUInt16LE(62, 18);
  out.writeUInt32LE(1, 20);
  out.writeBigUInt64LE(BigInt(table), 40);
  out.writeUInt16LE(64, 52);
  out.writeUInt16LE(64, 58);
  out.writeUInt16LE(5, 60);
  out.writeUInt16LE(2, 62);
  for (const [index, chunk] of chunks.entries()) chunk.copy(out, offsets[index] ?? 0);
  const section = (index: number, nameAt: number, type: number, link: number, entry: number) => {
    const at = table + index * 64;
    const size = chunks[index - 1]?.length ?? 0;
    out.writeUInt32LE(nameAt, at);
    out.writeUInt32LE(type, at + 4);
    out.writeBigUInt64LE(BigInt(offsets[index - 1] ?? 0), at + 24);
    out.writeBigUInt64LE(BigInt(size), at + 32);
    out.writeUInt32LE(link, at + 40);
    out.writeBigUInt64LE(8n, at + 48);
    out.writeBigUInt64LE(BigInt(entry), at + 56);
  };
  section(1, 1, 1, 0, 0);
  section(2, 10, 3, 0, 0);
  section(3, 20, 2, 4, 24);
  section(4, 28, 3, 0, 0);
  return out;
}

const align8 = (length: number): number => Math.ceil(length / 8) * 8;
