/** Every program this product may start, and the Debian package that brings it. */
export const TOOLS = {
  xz: "xz-utils",
  zstd: "zstd",
  tar: "tar",
  unsquashfs: "squashfs-tools",
  tar2sqfs: "squashfs-tools-ng",
  xorriso: "xorriso",
  mcopy: "mtools",
  mmd: "mtools",
  mattrib: "mtools",
  "mkfs.vfat": "dosfstools",
  "mkfs.xfs": "xfsprogs",
  "grub-mkimage": "grub-common",
  "qemu-img": "qemu-utils",
  depmod: "kmod",
  bwrap: "bubblewrap",
  prlimit: "util-linux",
} as const;

/** Programs that run containers; only who chooses one of them needs it. */
const CONTAINER_PROGRAMS = { docker: "docker.io", podman: "podman" } as const;

/** Runs a machine for boot tests of own extensions; a worker without it says so in the result of the test. */
const MACHINES = { "qemu-system-x86_64": "qemu-system-x86" } as const;

const PACKAGES = { ...TOOLS, ...CONTAINER_PROGRAMS, ...MACHINES } as const;
export type ToolName = keyof typeof PACKAGES;

/** True for a program that may be started. */
export const isToolName = (name: string): name is ToolName => Object.hasOwn(PACKAGES, name);

/** The Debian package that brings a program. */
export const packageOf = (tool: ToolName): string => PACKAGES[tool];

const isNeeded = (name: string): name is keyof typeof TOOLS => Object.hasOwn(TOOLS, name);

/** What each process starts: a web process only unpacks layers of source images, a worker runs everything. */
export const TOOLS_OF_ROLE: Readonly<Record<"web" | "worker", readonly ToolName[]>> = {
  web: ["zstd"],
  worker: Object.keys(TOOLS).filter(isNeeded),
};
