/** Runs a plan in a scratch folder that is gone afterwards. */
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { RunTool } from "../lib/exec/run.ts";
import { runPlan } from "../lib/imager/run-plan.ts";
import type { BuildPlan, BuildProgress, PartCache, Product, SigningKeys } from "../lib/imager/types.ts";
import type { FetchInput } from "../lib/services/inputs/input-fetcher.ts";

export interface Workshop {
  /** Folder for scratch space; made when it is missing. */
  root: string;
  run: RunTool;
  fetchInput: FetchInput;
  keys: SigningKeys | null;
  onProgress: (event: BuildProgress) => void;
  signal: AbortSignal;
}

/** Builds the asset and hands its file to `take` before the scratch folder is removed, also after a failure. */
export async function buildPlan<T>(
  plan: BuildPlan,
  workshop: Workshop,
  take: (file: string, scratch: string) => Promise<T>,
): Promise<T> {
  await mkdir(workshop.root, { recursive: true });
  const dir = await mkdtemp(join(workshop.root, "build-"));
  try {
    const { root: _root, ...options } = workshop;
    const { path } = await runPlan(plan, { ...options, dir, parts: ownParts(join(dir, "parts")) });
    return await take(path, dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Parts serve the one build that made them. */
function ownParts(root: string): PartCache {
  const kept = new Map<string, Product>();
  return {
    find: (op, key) => Promise.resolve(kept.get(`${op}/${key}`) ?? null),
    async keep(op, key, product) {
      const path = join(root, op, key);
      await mkdir(dirname(path), { recursive: true });
      await rename(product.path, path);
      const part = { ...product, path };
      kept.set(`${op}/${key}`, part);
      return part;
    },
  };
}
