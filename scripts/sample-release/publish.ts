/** Builds every image of the sample and pushes it to a running registry. */
import { join } from "node:path";
import { ARCHES, type Arch } from "../../lib/domain/asset.ts";
import { bootFiles, buildInitramfs, type KernelTree, readKernel } from "./base.ts";
import { type DebianTrees, fetchDebianTrees } from "./debian.ts";
import { describe, extensionTree } from "./extensions.ts";
import { layerOf, type PlatformImage, pushImage } from "./image.ts";
import { RELEASES, type SampleRelease } from "./releases.ts";
import { copyOf, type Tree, text } from "./tree.ts";

export interface PublishOptions {
  /** Base address of the registry. */
  registry: string;
  cacheDir: string;
  padded: boolean;
  tags?: string[];
  log: (line: string) => void;
}

interface Platform {
  arch: Arch;
  debian: DebianTrees;
  kernel: KernelTree;
}

/** Pushes all releases and gives the package versions they were made of. */
export async function publish(options: PublishOptions): Promise<string[]> {
  const debianDir = join(options.cacheDir, "debian");
  const platforms: Platform[] = [];
  for (const arch of ARCHES) {
    options.log(`Debian packages for ${arch}`);
    const debian = await fetchDebianTrees(debianDir, arch);
    platforms.push({ arch, debian, kernel: await readKernel(arch, debian) });
  }
  const releases = RELEASES.filter((release) => options.tags?.includes(release.tag) ?? true);
  for (const release of releases) {
    options.log(`release ${release.tag}`);
    await pushImager(options, release, platforms);
    await pushExtensions(options.registry, release, platforms);
  }
  return platforms.flatMap(({ arch, debian }) => debian.versions.map((version) => `${arch} ${version}`));
}

async function pushImager(
  options: PublishOptions,
  release: SampleRelease,
  platforms: Platform[],
): Promise<void> {
  const tree: Tree = new Map();
  for (const { arch, debian, kernel } of platforms) {
    const { boot, stub } = await bootFiles(arch, debian);
    const dir = `usr/install/${arch}`;
    tree.set(`${dir}/vmlinuz`, await copyOf(kernel.vmlinuz));
    tree.set(`${dir}/initramfs.xz`, {
      bytes: await buildInitramfs(kernel, debian, release, join(options.cacheDir, "work")),
    });
    tree.set(`${dir}/systemd-boot.efi`, { bytes: boot });
    tree.set(`${dir}/systemd-stub.efi`, { bytes: stub });
  }
  const layers = [await layerOf(tree)];
  await pushImage(options.registry, "siderolabs/imager", release.tag, everyArch(layers));
}

const everyArch = (layers: PlatformImage["layers"]): PlatformImage[] =>
  ARCHES.map((arch) => ({ arch, layers }));

async function pushExtensions(
  registry: string,
  release: SampleRelease,
  platforms: Platform[],
): Promise<void> {
  const lines: string[] = [];
  const descriptions: Record<string, { author: string; description: string }> = {};
  const shared = platforms.find((platform) => platform.arch === "amd64")?.debian;
  if (!shared) throw new Error("the sample needs the amd64 packages");
  for (const { name, version } of release.extensions) {
    const images: PlatformImage[] = [];
    for (const platform of platforms) {
      images.push({
        arch: platform.arch,
        layers: [await layerOf(await extensionTree(name, version, { ...platform, shared, release }))],
      });
    }
    const digest = await pushImage(registry, `siderolabs/${name}`, version, images);
    const line = `ghcr.io/siderolabs/${name}:${version}@${digest}`;
    lines.push(line);
    descriptions[line] = describe(name, release);
  }
  const catalog: Tree = new Map([
    ["image-digests", text(`${lines.join("\n")}\n`)],
    // JSON strings are YAML strings, so this is the map a YAML reader expects.
    [
      "descriptions.yaml",
      text(
        Object.entries(descriptions)
          .map(
            ([line, entry]) =>
              `${JSON.stringify(line)}:\n  author: ${JSON.stringify(entry.author)}\n  description: ${JSON.stringify(entry.description)}\n`,
          )
          .join(""),
      ),
    ],
  ]);
  await pushImage(registry, "siderolabs/extensions", release.tag, everyArch([await layerOf(catalog)]));
}
