/** The factory that is measured: the real programs on a sample release, in a folder of its own. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inDataDir } from "../../lib/config/data-folders.ts";
import { waitForVersion } from "../demo/client.ts";
import { findFreePort } from "../embedded/free-port.ts";
import { ensureSampleRelease, startSampleRegistry } from "../sample-release/index.ts";
import { startFactory } from "../supervisor/factory.ts";
import { untilIdle } from "./processes.ts";

export const VERSION = "v1.13.2";
/** Every kernel of the sample. */
export const KERNELS = ["v1.9.5", "v1.10.7", "v1.12.4", VERSION, "v1.14.0-beta.1"].flatMap((version) =>
  ["amd64", "arm64"].map((arch) => ({ version, path: `kernel-${arch}` })),
);

/** What a build may find: nothing at all, only files of the source images, or also the parts of other builds. */
export type Warmth = "first" | "cold" | "warm";

export interface BenchFactory {
  url: string;
  /** Process numbers. */
  web: number;
  worker: number;
  /** Takes away what a build of this warmth must not find. */
  cool(warmth: Warmth): Promise<void>;
  stop(): Promise<void>;
}

export interface BenchFactoryOptions {
  padded: boolean;
  /** Folder of web.mjs and worker.mjs. */
  programs: string;
  say: (line: string) => void;
}

/** Starts everything and waits until the releases are listed; `stop` removes the folder. */
export async function startBenchFactory(options: BenchFactoryOptions): Promise<BenchFactory> {
  const { registryDir } = await ensureSampleRelease({ padded: options.padded, log: options.say });
  const dataDir = await mkdtemp(join(tmpdir(), "casthouse-bench-"));
  const ends: (() => Promise<void>)[] = [() => rm(dataDir, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    const registry = await startSampleRegistry({ registryDir });
    ends.push(registry.stop);
    const factory = await startFactory({
      environment: {
        ...{ PORT: String(await findFreePort()), HOST: "127.0.0.1" },
        ...{ DATA_DIR: dataDir, SOURCE_REGISTRY: registry.url },
      },
      programs: { web: program(options, "web"), worker: program(options, "worker") },
      say: () => {},
      onHopeless: (reason) => options.say(reason),
    });
    ends.push(() => factory.stop());
    await waitForVersion(factory.url, VERSION, 60_000);
    const [web, worker] = await Promise.all([pidOf(dataDir, "web"), pidOf(dataDir, "worker")]);
    return { url: factory.url, web, worker, stop, cool: (warmth) => cool(dataDir, worker, warmth) };
  } catch (error) {
    await stop();
    throw error;
  }
}

const program = ({ programs }: BenchFactoryOptions, name: string): string[] => [
  process.execPath,
  join(programs, `${name}.mjs`),
];

async function pidOf(dataDir: string, name: string): Promise<number> {
  const { pid }: { pid: number } = JSON.parse(
    await readFile(join(inDataDir(dataDir, "run"), `${name}.json`), "utf8"),
  );
  return pid;
}

const PARTS = ["cache/parts/entries", "objects/parts"];
const SOURCES = ["cache/inputs/entries", "cache/source/blobs/sha256", "objects/blobs"];

async function cool(dataDir: string, worker: number, warmth: Warmth): Promise<void> {
  // Parts are stored behind the back of a build.
  await untilIdle(worker);
  const folders = { warm: [], cold: PARTS, first: [...PARTS, ...SOURCES] }[warmth];
  for (const folder of folders) {
    // The folders themselves are made once, when a process starts.
    const names = await readdir(join(dataDir, folder)).catch(() => []);
    await Promise.all(names.map((name) => rm(join(dataDir, folder, name), { recursive: true, force: true })));
  }
}
