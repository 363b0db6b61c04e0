/** Joins what the container engine needs of a worker: the runner, images unpacked once, key files, and whose container is whose. */
import { createHash } from "node:crypto";
import { chmod, copyFile, link, lstat, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { AppError } from "../errors/app-error.ts";
import { chooseRunner, type RunnerSettings } from "../exec/container/choose.ts";
import type { ContainerImage, ContainerRunner, ImageSettings } from "../exec/container/types.ts";
import type { RunTool } from "../exec/run.ts";
import { archiveManifest } from "../formats/image-documents.ts";
import { type ImageFacts, layerFile, readImageFacts } from "../imager/steps/base-image.ts";
import type { ImagerContainers } from "../imager/types.ts";
import type { KeyFiles } from "../keys/types.ts";
import { extractLayers } from "../oci/layer-extract.ts";
import { SingleFlight } from "../oci/single-flight.ts";
import type { LocalCache } from "./inputs/local-cache.ts";

export interface WorkerContainers {
  /** For the steps of one build; the owner names it in whatever outlives this process. */
  forBuild(owner: string): ImagerContainers;
  /** Removes containers of builds that no living worker has; gives their number. */
  removeLeftovers(isAlive: (owner: string) => Promise<boolean>, signal?: AbortSignal): Promise<number>;
  /** Name of the runner. Rejects with tool_failed and a hint when none works here. */
  check(): Promise<string>;
}

export interface WorkerContainersOptions {
  settings: RunnerSettings;
  run: RunTool;
  /** Where unpacked images stay. */
  cache: LocalCache;
  /** Null when SecureBoot is off. */
  keyFiles: KeyFiles | null;
}

/** Most bytes and entries of an imager image; published ones have about 1 GB. */
const MOST_BYTES = 8 * 1024 ** 3;

/** Nothing is asked of any daemon until the first build. */
export function createWorkerContainers(options: WorkerContainersOptions): WorkerContainers {
  const { settings, run, keyFiles } = options;
  const flights = new SingleFlight<void>();
  let chosen: Promise<ContainerRunner> | null = null;
  const runner = (): Promise<ContainerRunner> => {
    chosen ??= chooseRunner(run, settings).catch((error: unknown) => {
      // An operator may mend it while we run.
      chosen = null;
      throw error;
    });
    return chosen;
  };
  return {
    forBuild: (owner) => ({
      async run(product, job, secureboot) {
        const keys = secureboot
          ? await copyKeys(keyFiles, path.join(path.dirname(job.output), "keys"))
          : null;
        try {
          const image = await openImage(options, flights, product.path, job.signal);
          await (await runner()).run(image, { ...job, owner, keys });
        } finally {
          if (keys !== null) await rm(keys, { recursive: true, force: true });
        }
      },
    }),
    removeLeftovers: async (isAlive, signal) => (await runner()).removeLeftovers(isAlive, signal),
    check: async () => (await runner()).name,
  };
}

const settingsSchema = z.object({
  config: z
    .object({
      Entrypoint: z.array(z.string()).nullish(),
      Cmd: z.array(z.string()).nullish(),
      Env: z.array(z.string()).nullish(),
      WorkingDir: z.string().nullish(),
    })
    .nullish(),
});

async function openImage(
  options: WorkerContainersOptions,
  flights: SingleFlight<void>,
  folder: string,
  signal: AbortSignal,
): Promise<ContainerImage> {
  const facts = await readImageFacts({ path: folder });
  const key = createHash("sha256").update(JSON.stringify(facts)).digest("hex");
  const name = `rootfs/${key}`;
  return {
    name: facts.name,
    settings: settingsOf(facts),
    key,
    async rootfs() {
      const { cache } = options;
      const known = await cache.find(name);
      if (known !== null) return known.path;
      await flights.join(name, (shared) => unpack(options, name, folder, facts, shared), { signal });
      const fresh = await cache.find(name);
      if (fresh === null) throw new AppError("internal", `${facts.name} was unpacked and is not there`);
      return fresh.path;
    },
    archive: (target, tag) => writeArchive(options.run, folder, facts, target, tag),
  };
}

function settingsOf({ name, config }: ImageFacts): ImageSettings {
  const { Entrypoint, Env, WorkingDir } = settingsSchema.parse(config).config ?? {};
  if (Entrypoint === null || Entrypoint === undefined || Entrypoint.length === 0) {
    throw new AppError("source_invalid", `${name} has no entry point, so it is no imager`, {
      hint: "Check BUILD_IMAGER_IMAGE.",
      retryable: false,
    });
  }
  return { entrypoint: Entrypoint, env: Env ?? [], workingDir: WorkingDir || "/" };
}

async function unpack(
  { cache, run }: WorkerContainersOptions,
  name: string,
  folder: string,
  facts: ImageFacts,
  signal: AbortSignal,
): Promise<void> {
  const dir = await cache.temporary();
  try {
    const tree = path.join(dir, "tree");
    const files = facts.layers.map((_, index) => layerFile(folder, index));
    await extractLayers(facts.name, files, tree, run, { signal, maxBytes: MOST_BYTES });
    await openToAll(tree);
    await cache.keep(name, tree, { shape: "tree", sha256: null });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** The program runs under an account that owns none of these files. */
async function openToAll(place: string): Promise<void> {
  const stats = await lstat(place);
  if (stats.isSymbolicLink()) return;
  const executable = stats.isDirectory() || (stats.mode & 0o111) !== 0;
  await chmod(place, (stats.mode & 0o777) | (executable ? 0o555 : 0o444));
  if (!stats.isDirectory()) return;
  for (const entry of await readdir(place)) await openToAll(path.join(place, entry));
}

/** What `docker load` and `podman load` take; layers stay packed as they came. */
async function writeArchive(
  run: RunTool,
  folder: string,
  facts: ImageFacts,
  target: string,
  tag: string,
): Promise<string> {
  const tree = path.join(target, "archive");
  await mkdir(tree, { recursive: true });
  const layers = facts.layers.map((_, index) => `${index}.tar`);
  for (const [index, layer] of layers.entries()) {
    const source = layerFile(folder, index);
    await link(source, path.join(tree, layer)).catch(() => copyFile(source, path.join(tree, layer)));
  }
  await writeFile(path.join(tree, "config.json"), JSON.stringify(facts.config));
  await writeFile(path.join(tree, "manifest.json"), archiveManifest(tag, "config.json", layers));
  const file = path.join(target, "image.tar");
  await run("tar", ["--create", `--file=${file}`, `--directory=${tree}`, "."]);
  return file;
}

/** Under the names that imagers look for. The copies live as long as the program runs. */
async function copyKeys(files: KeyFiles | null, folder: string): Promise<string> {
  if (files === null)
    throw new AppError("internal", "this worker has no SecureBoot keys", { retryable: false });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const beside = path.dirname(files.signingCertificate);
  const databases = ["PK", "KEK", "db"].map((name): [string, string] => [
    path.join(beside, `${name}.auth`),
    `${name}.auth`,
  ]);
  const copies: [string, string][] = [
    [files.signingKey, "uki-signing-key.pem"],
    [files.signingCertificate, "uki-signing-cert.pem"],
    [files.pcrKey, "pcr-signing-key.pem"],
  ];
  for (const [source, name] of copies) await copyPrivately(source, path.join(folder, name));
  for (const [source, name] of databases) {
    const there = await lstat(source).catch(() => null);
    if (there !== null) await copyPrivately(source, path.join(folder, name));
  }
  return folder;
}

async function copyPrivately(source: string, target: string): Promise<void> {
  await copyFile(source, target);
  await chmod(target, 0o400);
}
