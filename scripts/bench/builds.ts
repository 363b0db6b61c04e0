/** Times builds: each asset with nothing there, with source files there, and with all parts of another schematic there. */
import { postSchematic } from "../demo/client.ts";
import { type BenchFactory, VERSION, type Warmth } from "./factory.ts";
import { cpuSeconds, peakMegabytes, resetPeak, untilIdle, watchTools } from "./processes.ts";

const EXTENSIONS = ["drbd", "iscsi-tools", "qemu-guest-agent"];

export interface BuildCase {
  name: string;
  /** Last segment of the asset's address. */
  path: string;
  /** Seconds of build time; missing where there is none. */
  targets: Partial<Record<Warmth, number>>;
  /** The same on the padded sample. */
  paddedTargets?: Partial<Record<Warmth, number>>;
}

export const BUILD_CASES: readonly BuildCase[] = [
  { name: "initramfs", path: "initramfs-amd64.xz", targets: { cold: 1.1, warm: 0.2 } },
  { name: "uki", path: "metal-amd64-uki.efi", targets: { cold: 1.5, warm: 0.3 } },
  {
    name: "iso",
    path: "metal-amd64.iso",
    targets: { cold: 3, warm: 1 },
    paddedTargets: { warm: 3 },
  },
  { name: "raw", path: "metal-amd64.raw", targets: {} },
  { name: "raw.zst", path: "metal-amd64.raw.zst", targets: { cold: 4, warm: 1.5 } },
  { name: "raw.xz", path: "metal-amd64.raw.xz", targets: { cold: 4, warm: 1.5 } },
  { name: "qcow2", path: "metal-amd64.qcow2", targets: { cold: 2 } },
  { name: "installer", path: "installer-amd64.tar", targets: { cold: 3, warm: 1 } },
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
  { path }: BuildCase,
  warmth: Warmth,
): Promise<BuildRun> {
  const id = await newSchematic(factory.url);
  await factory.cool(warmth);
  resetPeak(factory.worker);
  const before = cpuSeconds(factory.worker);
  const tools = watchTools(factory.worker);
  const started = performance.now();
  // One byte is enough to wait for the whole file.
  const reply = await fetch(`${factory.url}/image/${id}/${VERSION}/${path}`, {
    headers: { Range: "bytes=0-0" },
  });
  const waited = (performance.now() - started) / 1000;
  if (reply.status !== 206) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
  await reply.arrayBuffer();
  await untilIdle(factory.worker);
  const after = cpuSeconds(factory.worker);
  const view = await buildOf(factory.url, id);
  return {
    seconds: (Date.parse(view.finishedAt) - Date.parse(view.startedAt)) / 1000,
    waited,
    workerCpu: after.own - before.own,
    toolsCpu: after.children - before.children,
    workerMb: peakMegabytes(factory.worker),
    toolsMb: tools.stop(),
    sizeBytes: view.asset?.sizeBytes ?? 0,
    steps: view.timings.map(({ title, ms, cached }) => ({ title, ms, cached })),
  };
}

/** Differs from all others in one kernel argument. */
function newSchematic(url: string): Promise<string> {
  serial += 1;
  const extensions = EXTENSIONS.map((name) => `      - siderolabs/${name}\n`).join("");
  return postSchematic(
    url,
    `customization:\n  extraKernelArgs:\n    - bench=${process.pid}-${serial}\n  systemExtensions:\n    officialExtensions:\n${extensions}`,
  );
}

async function buildOf(url: string, schematic: string): Promise<BuildView> {
  const reply = await fetch(`${url}/api/v1/builds?schematic=${schematic}&limit=1`);
  const { builds }: { builds: BuildView[] } = await reply.json();
  const [build] = builds;
  if (build?.state !== "ready") throw new Error(`the build is ${build?.state}: ${build?.error?.message}`);
  return build;
}
