/** Builds every image of the sample and pushes it to a running registry. */
import { createCipheriv } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ARCHES, type Arch } from "../../lib/domain/asset.ts";
import { bootFiles, buildInitramfs, type KernelTree, readKernel, requirePackage } from "./base.ts";
import { BOARDS, boardTree } from "./boards.ts";
import { type DebianTrees, fetchDebianTrees } from "./debian.ts";
import { describe, extensionTree } from "./extensions.ts";
import { type Layer, layerOf, type PlatformImage, pushImage } from "./image.ts";
import { billOfMaterials, INSTALLER_SETTINGS, installerTree, probeLayers, talosctlTree } from "./programs.ts";
import { PADDED_TAG, RELEASES, type SampleRelease } from "./releases.ts";
import { copyOf, type Tree, text } from "./tree.ts";

export interface PublishOptions {
  /** Base address of the registry. */
  registry: string;
  cacheDir: string;
  /** Kernel and initramfs of real sizes; one release, one architecture. */
  padded: boolean;
  tags?: string[];
  log: (line: string) => void;
}

interface Platform {
  arch: Arch;
  debian: DebianTrees;
  kernel: KernelTree;
}

/** One run: what every push needs. */
interface Run extends PublishOptions {
  platforms: Platform[];
  /** The amd64 packages, which also hold data for every architecture. */
  shared: DebianTrees;
}

/** Pushes all releases and gives the package versions they were made of. */
export async function publish(options: PublishOptions): Promise<string[]> {
  const run = await startRun(options);
  const tags = options.padded ? [PADDED_TAG] : options.tags;
  for (const release of RELEASES.filter(({ tag }) => tags?.includes(tag) ?? true)) {
    options.log(`images of ${release.tag}`);
    const installed = await pushImager(run, release);
    await pushInstaller(run, release, installed);
    await pushExtensions(run, release);
    await pushOverlays(run, release);
    if (release.since111) {
      await push(
        run,
        "siderolabs/talosctl-all",
        release.tag,
        everyArch(run, [await layerOf(talosctlTree(release))]),
      );
    }
  }
  const probe = await Promise.all(probeLayers().map(layerOf));
  await push(run, "example/casthouse-probe", "1.0.0", [{ arch: "amd64", layers: probe }]);
  return run.platforms.flatMap(({ arch, debian }) => debian.versions.map((version) => `${arch} ${version}`));
}

async function startRun(options: PublishOptions): Promise<Run> {
  const platforms: Platform[] = [];
  for (const arch of options.padded ? ["amd64" as const] : ARCHES) {
    options.log(`Debian packages for ${arch}`);
    const debian = await fetchDebianTrees(join(options.cacheDir, "debian"), arch);
    platforms.push({ arch, debian, kernel: await readKernel(arch, debian) });
  }
  const shared = platforms.find(({ arch }) => arch === "amd64")?.debian;
  if (!shared) throw new Error("the sample needs the amd64 packages");
  return { ...options, platforms, shared };
}

const push = (run: Run, repository: string, tag: string, images: PlatformImage[]): Promise<string> =>
  pushImage(run.registry, repository, tag, images);

/** The same layers for each architecture of the run. */
const everyArch = (run: Run, layers: Layer[]): PlatformImage[] =>
  run.platforms.map(({ arch }) => ({ arch, layers }));

/** Boot files of all architectures in one image; gives the tree, which old installers repeat. */
async function pushImager(run: Run, release: SampleRelease): Promise<Tree> {
  const tree: Tree = new Map();
  for (const { arch, debian, kernel } of run.platforms) {
    const { boot, stub } = await bootFiles(arch, debian);
    const dir = `usr/install/${arch}`;
    const vmlinuz = await copyOf(kernel.vmlinuz);
    const padding = run.padded ? noise(PADDED_INITRAMFS_BYTES) : null;
    tree.set(
      `${dir}/vmlinuz`,
      run.padded && "bytes" in vmlinuz ? { bytes: paddedKernel(vmlinuz.bytes) } : vmlinuz,
    );
    const initramfs = await buildInitramfs(kernel, debian, release, join(run.cacheDir, "work"), padding);
    tree.set(`${dir}/initramfs.xz`, { bytes: initramfs });
    tree.set(`${dir}/systemd-boot.efi`, { bytes: boot });
    tree.set(`${dir}/systemd-stub.efi`, { bytes: stub });
    if (release.since111) tree.set(`${dir}/talos.spdx.json`, text(billOfMaterials(release, debian.versions)));
  }
  await addGrub(run, tree);
  await push(run, "siderolabs/imager", release.tag, everyArch(run, [await layerOf(tree)]));
  return tree;
}

/** GRUB's modules for arm64, where published imager images have those of every platform. */
async function addGrub(run: Run, tree: Tree): Promise<void> {
  const arm64 = run.platforms.find(({ arch }) => arch === "arm64")?.debian;
  if (!arm64) return;
  const dir = join(requirePackage(arm64, "grub-efi-arm64-bin"), "usr/lib/grub/arm64-efi");
  for (const name of await readdir(dir)) {
    if (/\.(mod|lst|img|sh)$/.test(name)) {
      tree.set(`usr/lib/grub/arm64-efi/${name}`, await copyOf(join(dir, name)));
    }
  }
}

const PADDED_KERNEL_BYTES = 20_000_000;
/** With the 4 MB of the plain sample this gives an initramfs of about 90 MB. */
const PADDED_INITRAMFS_BYTES = 86_000_000;

/** Bytes that do not compress and are the same every time. */
const noise = (length: number): Buffer =>
  createCipheriv("aes-256-ctr", Buffer.alloc(32), Buffer.alloc(16)).update(Buffer.alloc(length));

/** Boot loaders read a kernel by the size in its own header and ignore what follows. */
const paddedKernel = (kernel: Uint8Array): Buffer =>
  Buffer.concat([kernel, noise(PADDED_KERNEL_BYTES - kernel.length)]);

/** One layer since 1.10; before, a second one repeats kernel and initramfs. */
async function pushInstaller(run: Run, release: SampleRelease, installed: Tree): Promise<void> {
  const images: PlatformImage[] = [];
  for (const { arch, debian } of run.platforms) {
    const layers = [await layerOf(await installerTree(release, arch, debian))];
    if (release.installer === "installer") {
      const files = [...installed].filter(
        ([path]) => /\/(vmlinuz|initramfs\.xz)$/.test(path) && path.includes(`/${arch}/`),
      );
      layers.push(await layerOf(new Map(files)));
    }
    images.push({ arch, layers, settings: INSTALLER_SETTINGS });
  }
  await push(run, `siderolabs/${release.installer}`, release.tag, images);
}

async function pushExtensions(run: Run, release: SampleRelease): Promise<void> {
  const lines: string[] = [];
  const descriptions: string[] = [];
  for (const { name, version } of release.extensions) {
    const images: PlatformImage[] = [];
    for (const platform of run.platforms) {
      const tree = await extensionTree(name, version, { ...platform, shared: run.shared, release });
      images.push({ arch: platform.arch, layers: [await layerOf(tree)] });
    }
    const digest = await push(run, `siderolabs/${name}`, version, images);
    const line = `ghcr.io/siderolabs/${name}:${version}@${digest}`;
    const { author, description } = describe(name, release);
    lines.push(line);
    // JSON strings are YAML strings.
    descriptions.push(
      `${JSON.stringify(line)}:\n  author: ${JSON.stringify(author)}\n  description: ${JSON.stringify(description)}\n`,
    );
  }
  const catalog: Tree = new Map([
    ["image-digests", text(`${lines.join("\n")}\n`)],
    ["descriptions.yaml", text(descriptions.join(""))],
  ]);
  await push(run, "siderolabs/extensions", release.tag, everyArch(run, [await layerOf(catalog)]));
}

/** Board overlays hold arm64 boot loaders, so a run without arm64 publishes an empty list. */
async function pushOverlays(run: Run, release: SampleRelease): Promise<void> {
  const arm64 = run.platforms.find(({ arch }) => arch === "arm64")?.debian;
  const entries: string[] = [];
  for (const board of arm64 ? BOARDS : []) {
    const images: PlatformImage[] = [];
    for (const { arch, debian } of run.platforms) {
      images.push({ arch, layers: [await layerOf(await boardTree(board, arch, debian, arm64 ?? debian))] });
    }
    const digest = await push(run, `siderolabs/${board.image}`, release.overlayVersion, images);
    entries.push(
      `  - name: ${board.name}\n    image: ghcr.io/siderolabs/${board.image}:${release.overlayVersion}\n    digest: ${digest}\n`,
    );
  }
  const list = entries.length > 0 ? `overlays:\n${entries.join("")}` : "overlays: []\n";
  const catalog: Tree = new Map([["overlays.yaml", text(list)]]);
  await push(run, "siderolabs/overlays", release.tag, everyArch(run, [await layerOf(catalog)]));
}
