/**
 * The sample release: Talos-shaped images made of Debian packages in a registry folder, so that the whole factory runs and
 * is tested without the internet's images. Says of itself everywhere that it is a sample. See docs/sample-release.md.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { publish } from "./publish.ts";
import { startSampleRegistry } from "./registry.ts";

export { type SampleRegistry, startSampleRegistry } from "./registry.ts";

export interface SampleOptions {
  /** Where everything is kept. Default: .cache/sample-release of the project. */
  cacheDir?: string;
  /** A second registry with kernel and initramfs of real sizes: only v1.13.2 for amd64. */
  padded?: boolean;
  /** Only these tags (for trying things out); the folder is then a different one. */
  tags?: string[];
  /** Builds again although the cached one fits, with the newest packages. */
  refresh?: boolean;
  log?: (line: string) => void;
}

const PROJECT = join(import.meta.dirname, "../..");

/**
 * Gives the folder of a registry that holds the sample, building it when the cached one was made by other scripts.
 * Throws with the words of the tool that failed; a half-built folder is never given.
 */
export async function ensureSampleRelease(options: SampleOptions = {}): Promise<{ registryDir: string }> {
  const cacheDir = options.cacheDir ?? join(PROJECT, ".cache/sample-release");
  const variant = options.tags ? `-${options.tags.join("+")}` : options.padded ? "-padded" : "";
  const registryDir = join(cacheDir, `registry${variant}`);
  const stamp = join(registryDir, "casthouse-sample.json");
  const key = await scriptsHash();
  if (!options.refresh && (await stampedKey(stamp)) === key) return { registryDir };
  await mkdir(cacheDir, { recursive: true });
  return withLock(join(cacheDir, "lock"), async () => {
    if (!options.refresh && (await stampedKey(stamp)) === key) return { registryDir };
    const partial = join(cacheDir, `partial${variant}`);
    await rm(partial, { recursive: true, force: true });
    await mkdir(partial, { recursive: true });
    const registry = await startSampleRegistry({ registryDir: partial });
    try {
      const versions = await publish({
        registry: registry.url,
        cacheDir,
        padded: options.padded ?? false,
        ...(options.tags ? { tags: options.tags } : {}),
        log: options.log ?? (() => {}),
      });
      await writeFile(
        join(partial, "casthouse-sample.json"),
        `${JSON.stringify({ key, packages: versions }, null, 2)}\n`,
      );
    } finally {
      await registry.stop();
    }
    await rm(registryDir, { recursive: true, force: true });
    await rename(partial, registryDir);
    return { registryDir };
  });
}

async function stampedKey(stamp: string): Promise<string | null> {
  const content = await readFile(stamp, "utf8").catch(() => null);
  return content === null ? null : String(JSON.parse(content).key);
}

/** SHA-256 over every script and guest file here: what decides whether a cached sample still fits. */
async function scriptsHash(): Promise<string> {
  const hash = createHash("sha256");
  const files = (await readdir(import.meta.dirname, { recursive: true, withFileTypes: true })).filter(
    (entry) => entry.isFile(),
  );
  for (const path of files.map((entry) => join(entry.parentPath, entry.name)).sort()) {
    hash
      .update(path.slice(import.meta.dirname.length))
      .update("\0")
      .update(await readFile(path));
  }
  return hash.digest("hex");
}

/** One builder at a time: the lock is a folder that names its owner's process, taken over when that process is gone. */
async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  while (!(await takeLock(path))) {
    await new Promise((wake) => setTimeout(wake, 300));
  }
  try {
    return await work();
  } finally {
    await rm(path, { recursive: true, force: true });
  }
}

async function takeLock(path: string): Promise<boolean> {
  try {
    await mkdir(path);
    await writeFile(join(path, "pid"), String(process.pid));
    return true;
  } catch {
    const owner = Number(await readFile(join(path, "pid"), "utf8").catch(() => "0"));
    const fresh = await stat(path).then(
      (info) => Date.now() - info.mtimeMs < 5_000,
      () => true,
    );
    const dead = owner > 0 ? !existsSync(`/proc/${owner}`) : !fresh;
    if (dead) await rm(path, { recursive: true, force: true });
    return false;
  }
}

async function main(args: string[]): Promise<void> {
  const started = Date.now();
  const { registryDir } = await ensureSampleRelease({
    padded: args.includes("--padded"),
    refresh: args.includes("--refresh"),
    log: (line) => console.log(line),
  });
  console.log(`sample release ready in ${registryDir} after ${((Date.now() - started) / 1000).toFixed(1)} s`);
  if (!args.includes("--serve")) return;
  const registry = await startSampleRegistry({ registryDir });
  console.log(`serving at ${registry.url}, end with Ctrl-C`);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void registry.stop());
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  main(process.argv.slice(2)).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
}
