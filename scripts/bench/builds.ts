/** Times builds of every kind of file: each asset with nothing there, with source files there, and with all parts of another schematic there. */
import { postSchematic } from "../demo/client.ts";
import { type BenchFactory, KERNELS, VERSION, type Warmth } from "./factory.ts";
import { cpuSeconds, peakMegabytes, resetPeak, untilIdle, watchTools } from "./processes.ts";

const EXTENSIONS = ["drbd", "iscsi-tools", "qemu-guest-agent"];

export interface BuildCase {
  name: string;
  /** Last segment of the asset's address; of a pull the name of the installer in the registry. */
  path: string;
  /** Asked for as registry clients do it: both platforms are built, and what the client waits is the figure. */
  pull?: true;
  /** Board of the schematic. */
  board?: { image: string; name: string };
  /** Files that belong to a release, not to a schematic, are built once: each run takes another of these. */
  oneOf?: readonly { version: string; path: string }[];
  /** Seconds of build time; missing where there is none. */
  targets: Partial<Record<Warmth, number>>;
  /** The same on the padded sample. */
  paddedTargets?: Partial<Record<Warmth, number>>;
}

export const BUILD_CASES: readonly BuildCase[] = [
  { name: "kernel", path: "kernel-amd64", oneOf: KERNELS, targets: {} },
  { name: "cmdline", path: "cmdline-metal-amd64", targets: {} },
  { name: "initramfs", path: "initramfs-amd64.xz", targets: { cold: 1.1, warm: 0.2 } },
  { name: "uki", path: "metal-amd64-uki.efi", targets: { cold: 1.5, warm: 0.3 } },
  { name: "secureboot-uki", path: "metal-amd64-secureboot-uki.efi", targets: {} },
  {
    name: "iso",
    path: "metal-amd64.iso",
    targets: { cold: 3, warm: 1 },
    paddedTargets: { warm: 3 },
  },
  { name: "secureboot-iso", path: "metal-amd64-secureboot.iso", targets: {} },
  { name: "raw", path: "metal-amd64.raw", targets: {} },
  { name: "raw.zst", path: "metal-amd64.raw.zst", targets: { cold: 4, warm: 1.5 } },
  { name: "raw.xz", path: "metal-amd64.raw.xz", targets: { cold: 4, warm: 1.5 } },
  { name: "raw.gz", path: "akamai-amd64.raw.gz", targets: {} },
  { name: "secureboot-raw.zst", path: "metal-amd64-secureboot.raw.zst", targets: {} },
  { name: "qcow2", path: "metal-amd64.qcow2", targets: { cold: 2 } },
  { name: "vhd", path: "azure-amd64.vhd", targets: {} },
  { name: "ova", path: "vmware-amd64.ova", targets: {} },
  { name: "gcp", path: "gcp-amd64.raw.tar.gz", targets: {} },
  { name: "installer", path: "installer-amd64.tar", targets: { cold: 3, warm: 1 } },
  { name: "pull", path: "installer", pull: true, targets: { cold: 3, warm: 1 } },
  { name: "secureboot-installer", path: "installer-amd64-secureboot.tar", targets: {} },
  {
    name: "board",
    path: "metal-arm64.raw.zst",
    board: { image: "siderolabs/sbc-raspberrypi", name: "rpi_generic" },
    targets: {},
  },
];

export interface StepTime {
  title: string;
  ms: number;
  cached: boolean;
}

export interface BuildRun {
  /** From the worker's claim to the finished row, seconds. */
  seconds: number;
  /** What the client waited, seconds. */
  waited: number;
  /** Of the worker itself and of the programs it starts, background work included. */
  workerCpu: number;
  toolsCpu: number;
  /** Peaks, MB. */
  workerMb: number;
  toolsMb: number;
  sizeBytes: number;
  steps: StepTime[];
}

interface BuildView {
  id: string;
  state: string;
  startedAt: string;
  finishedAt: string;
  timings: StepTime[];
  asset: { sizeBytes: number; builtInMs: number } | null;
  error: { message: string } | null;
}

let serial = 0;

/** Builds the asset once, for a schematic that nobody asked for before. Throws with the factory's words when it fails. */
export async function measureBuild(
  factory: BenchFactory,
  build: BuildCase,
  warmth: Warmth,
  run: number,
): Promise<BuildRun> {
  const { version, path } = build.oneOf?.[run] ?? { version: VERSION, path: build.path };
  const id = await newSchematic(factory.url, build);
  await factory.cool(warmth);
  resetPeak(factory.worker);
  const before = cpuSeconds(factory.worker);
  const tools = watchTools(factory.worker);
  const started = performance.now();
  const reply = await request(factory.url, build, `${id}/${version}`, path);
  const waited = (performance.now() - started) / 1000;
  await untilIdle(factory.worker);
  const after = cpuSeconds(factory.worker);
  const view = await buildOf(factory.url, id);
  return {
    seconds:
      view === null || build.pull
        ? waited
        : (Date.parse(view.finishedAt) - Date.parse(view.startedAt)) / 1000,
    waited,
    workerCpu: after.own - before.own,
    toolsCpu: after.children - before.children,
    workerMb: peakMegabytes(factory.worker),
    toolsMb: tools.stop(),
    sizeBytes: view?.asset?.sizeBytes ?? Number(reply.get("content-range")?.split("/")[1]),
    steps: (view?.timings ?? []).map(({ title, ms, cached }) => ({ title, ms, cached })),
  };
}

/** Gives the headers of the answer, which comes when the file or the image is ready. */
async function request(
  url: string,
  { pull }: BuildCase,
  schematicAndVersion: string,
  path: string,
): Promise<Headers> {
  const address = pull
    ? `${url}/v2/${path}/${schematicAndVersion.replace("/", "/manifests/")}`
    : `${url}/image/${schematicAndVersion}/${path}`;
  // One byte is enough to wait for the whole file.
  const reply = await fetch(address, pull ? {} : { headers: { Range: "bytes=0-0" } });
  if (reply.status !== (pull ? 200 : 206))
    throw new Error(`${address}: ${reply.status} ${await reply.text()}`);
  await reply.arrayBuffer();
  return reply.headers;
}

/** Differs from all others in one kernel argument. */
function newSchematic(url: string, { board }: BuildCase): Promise<string> {
  serial += 1;
  const overlay = board === undefined ? "" : `overlay:\n  image: ${board.image}\n  name: ${board.name}\n`;
  const extensions = EXTENSIONS.map((name) => `      - siderolabs/${name}\n`).join("");
  return postSchematic(
    url,
    `${overlay}customization:\n  extraKernelArgs:\n    - bench=${process.pid}-${serial}\n  systemExtensions:\n    officialExtensions:\n${extensions}`,
  );
}

/** Null for what is answered without a build, as a command line is. */
async function buildOf(url: string, schematic: string): Promise<BuildView | null> {
  const reply = await fetch(`${url}/api/v1/builds?schematic=${schematic}&limit=1`);
  const { builds }: { builds: BuildView[] } = await reply.json();
  const [build] = builds;
  if (build === undefined) return null;
  if (build.state !== "ready") throw new Error(`the build is ${build.state}: ${build.error?.message}`);
  return build;
}
