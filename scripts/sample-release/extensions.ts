/** The sample's system extensions: real names and layout, small contents out of Debian packages. */
import { join } from "node:path";
import type { Arch } from "../../lib/domain/asset.ts";
import { isStockModule, type KernelTree, moduleBytes, requirePackage, withNeeds } from "./base.ts";
import type { DebianTrees } from "./debian.ts";
import type { SampleRelease } from "./releases.ts";
import { copyOf, type Tree, text, under } from "./tree.ts";

/** What an extension is made from: packages of its own architecture, the shared ones, and the kernel. */
export interface ExtensionSources {
  arch: Arch;
  debian: DebianTrees;
  /** The amd64 trees, which also hold data for every architecture. */
  shared: DebianTrees;
  kernel: KernelTree;
  release: SampleRelease;
}

interface ExtensionDefinition {
  author: string;
  description: string;
  compatibility: string;
  rootfs: (sources: ExtensionSources) => Promise<Tree>;
}

const NOTE = "Casthouse sample, not the official extension";

export const EXTENSIONS: Record<string, ExtensionDefinition> = {
  drbd: {
    author: "Casthouse sample",
    description: `${NOTE}: the DRBD kernel module of Debian's cloud kernel.`,
    compatibility: ">= v1.2.0",
    rootfs: drbd,
  },
  "hello-world-service": {
    author: "Casthouse sample",
    description: `${NOTE}: GNU hello as an extension service.`,
    compatibility: ">= v1.0.0",
    rootfs: (sources) => serviceTree(sources, "hello-world-service", "hello", "usr/bin/hello", ["libc.so.6"]),
  },
  i915: {
    author: "Casthouse sample",
    description: `${NOTE}: display firmware of Debian's firmware-misc-nonfree.`,
    compatibility: ">= v1.0.0",
    rootfs: i915,
  },
  "intel-ucode": {
    author: "Casthouse sample",
    description: `${NOTE}: three files of Debian's intel-microcode.`,
    compatibility: ">= v1.0.0",
    rootfs: intelMicrocode,
  },
  "iscsi-tools": {
    author: "Casthouse sample",
    description: `${NOTE}: iscsi-iname and the settings of Debian's open-iscsi.`,
    compatibility: ">= v1.1.0",
    rootfs: iscsiTools,
  },
  "qemu-guest-agent": {
    author: "Casthouse sample",
    description: `${NOTE}: the QEMU guest agent of Debian as an extension service.`,
    compatibility: ">= v1.5.0",
    rootfs: (sources) =>
      serviceTree(sources, "qemu-guest-agent", "qemu-guest-agent", "usr/sbin/qemu-ga", QEMU_LIBRARIES),
  },
};

const QEMU_LIBRARIES = [
  "libc.so.6",
  "libglib-2.0.so.0",
  "libgmodule-2.0.so.0",
  "libm.so.6",
  "libnuma.so.1",
  "libpcre2-8.so.0",
  "libudev.so.1",
  "liburing.so.2",
];
/** Packages that hold the shared libraries above. */
const LIBRARY_PACKAGES = ["libc6", "libglib2.0-0", "libnuma1", "libpcre2-8-0", "libudev1", "liburing2"];
const TRIPLET = { amd64: "x86_64-linux-gnu", arm64: "aarch64-linux-gnu" } as const;
const LOADER = { amd64: "lib64/ld-linux-x86-64.so.2", arm64: "lib/ld-linux-aarch64.so.1" } as const;
/** Label the container files carry, so that SELinux labels travel through layers and squashfs. */
const CONTAINER_LABEL = "system_u:object_r:sys_containerd_state_t:s0";

/** The tree of an extension image: manifest.yaml and rootfs/. */
export async function extensionTree(name: string, version: string, sources: ExtensionSources): Promise<Tree> {
  const definition = EXTENSIONS[name];
  if (!definition) throw new Error(`the sample has no extension ${name}`);
  const tree = under("rootfs", await definition.rootfs(sources));
  tree.set("manifest.yaml", text(manifest(name, version, definition, sources.release)));
  return tree;
}

/** Description as the catalog of a release shows it. */
export function describe(name: string, release: SampleRelease): { author: string; description: string } {
  const { author = "", description = "" } = EXTENSIONS[name] ?? {};
  const tier = ["drbd", "qemu-guest-agent"].includes(name) ? "[extra] " : "[core] ";
  return { author, description: `${release.tiers ? tier : ""}${description}\n` };
}

function manifest(
  name: string,
  version: string,
  definition: ExtensionDefinition,
  release: SampleRelease,
): string {
  const { author, description } = describe(name, release);
  return [
    "version: v1alpha1",
    "metadata:",
    `  name: ${name}`,
    `  version: ${JSON.stringify(version)}`,
    `  author: ${author}`,
    "  description: |",
    `    ${description.trim()}`,
    "  compatibility:",
    "    talos:",
    `      version: ${JSON.stringify(definition.compatibility)}`,
    "",
  ].join("\n");
}

/** A program with its libraries as a container root, and the service file that starts it. */
async function serviceTree(
  sources: ExtensionSources,
  service: string,
  packageName: string,
  program: string,
  libraries: string[],
): Promise<Tree> {
  const root = `usr/local/lib/containers/${service}`;
  const tree: Tree = new Map();
  const binary = await copyOf(join(requirePackage(sources.debian, packageName), program), 0o755);
  tree.set(`${root}/${program}`, "bytes" in binary ? { ...binary, selinux: CONTAINER_LABEL } : binary);
  for (const library of libraries) {
    tree.set(`${root}/lib/${TRIPLET[sources.arch]}/${library}`, await findLibrary(sources, library));
  }
  const loader = await copyOf(join(requirePackage(sources.debian, "libc6"), LOADER[sources.arch]), 0o755);
  tree.set(`${root}/${LOADER[sources.arch]}`, loader);
  tree.set(
    `usr/local/etc/containers/${service}.yaml`,
    text(
      `name: ${service}\ncontainer:\n  entrypoint: ./${program}\ndepends:\n  - service: cri\nrestart: always\n`,
    ),
  );
  return tree;
}

async function findLibrary(
  sources: ExtensionSources,
  library: string,
): Promise<Awaited<ReturnType<typeof copyOf>>> {
  for (const name of LIBRARY_PACKAGES) {
    for (const folder of ["lib", "usr/lib"]) {
      const path = join(requirePackage(sources.debian, name), folder, TRIPLET[sources.arch], library);
      const found = await copyOf(path, 0o755).catch(() => null);
      if (found) return found;
    }
  }
  throw new Error(`no Debian package of the sample holds ${library}`);
}

async function drbd({ kernel, release }: ExtensionSources): Promise<Tree> {
  const tree: Tree = new Map();
  for (const name of withNeeds(kernel, ["drbd"])) {
    if (isStockModule(kernel, name)) continue;
    const path = `${release.libraryFolder}/modules/${kernel.release}/extras/${name}.ko`;
    tree.set(path, { bytes: await moduleBytes(kernel, name) });
  }
  return tree;
}

async function i915({ shared, release }: ExtensionSources): Promise<Tree> {
  const dir = join(requirePackage(shared, "firmware-misc-nonfree"), "lib/firmware/i915");
  const tree: Tree = new Map();
  for (const file of ["kbl_dmc_ver1_04.bin", "skl_dmc_ver1_27.bin", "tgl_dmc_ver2_12.bin"]) {
    tree.set(`${release.libraryFolder}/firmware/i915/${file}`, await copyOf(join(dir, file)));
  }
  tree.set("usr/local/share/casthouse/i915", text("display firmware of the sample\n"));
  return tree;
}

async function intelMicrocode({ shared, release }: ExtensionSources): Promise<Tree> {
  const dir = join(requirePackage(shared, "intel-microcode"), "lib/firmware/intel-ucode");
  const tree: Tree = new Map();
  for (const file of ["06-55-03", "06-55-04", "06-55-05"]) {
    tree.set(`${release.libraryFolder}/firmware/intel-ucode/${file}`, await copyOf(join(dir, file)));
  }
  return tree;
}

async function iscsiTools(sources: ExtensionSources): Promise<Tree> {
  const root = requirePackage(sources.debian, "open-iscsi");
  return new Map([
    ["usr/local/sbin/iscsi-iname", await copyOf(join(root, "sbin/iscsi-iname"), 0o755)],
    ["usr/local/etc/iscsi/iscsid.conf", await copyOf(join(root, "etc/iscsi/iscsid.conf"))],
  ]);
}
