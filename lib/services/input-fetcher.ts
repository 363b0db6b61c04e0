/** Brings the inputs of plans onto this machine: files and trees of source images, kept by digest. */
import { createHash } from "node:crypto";
import { lstat, rm } from "node:fs/promises";
import path from "node:path";
import { AppError } from "../errors/app-error.ts";
import type { BuildPlan, PlanInput, Product, RunPlanOptions } from "../imager/types.ts";
import { SingleFlight } from "../oci/single-flight.ts";
import type { SourceImages } from "../oci/types.ts";
import type { CacheEntry, LocalCache } from "./local-cache.ts";

export type FetchInput = RunPlanOptions["fetchInput"];

export interface InputFetcherOptions {
  images: SourceImages;
  cache: LocalCache;
}

type FileInput = Extract<PlanInput, { kind: "image-file" }>;
type TreeInput = Extract<PlanInput, { kind: "image-tree" }>;

/**
 * Gives a fetchInput per plan. An image is read once for all its files that the plan names, because a layer can only
 * be unpacked from its beginning; builds that need the same at the same time share the work.
 */
export function createInputFetcher(options: InputFetcherOptions): (plan: BuildPlan) => FetchInput {
  const flights = new SingleFlight<void>();
  return (plan) => async (input, _dir, signal) => {
    const known = await options.cache.find(entryName(input));
    if (known !== null) return toProduct(known);
    if (input.kind === "image-tree") {
      await flights.join(entryName(input), (shared) => fetchTree(options, input, shared), { signal });
    } else {
      const files = plan.inputs.filter((other): other is FileInput => isSameImage(other, input));
      const name = files.map(entryName).sort().join("+");
      await flights.join(name, (shared) => fetchFiles(options, files, shared), { signal });
    }
    const fetched = await options.cache.find(entryName(input));
    if (fetched === null) throw missing(input);
    return toProduct(fetched);
  };
}

const isSameImage = (other: PlanInput, input: FileInput) =>
  other.kind === "image-file" && other.digest === input.digest && other.arch === input.arch;

async function fetchTree({ images, cache }: InputFetcherOptions, input: TreeInput, signal: AbortSignal) {
  const dir = await cache.temporary();
  try {
    const tree = path.join(dir, "tree");
    const { selinuxLabels } = await images.extract(input.repository, input.digest, input.arch, tree, {
      signal,
    });
    await cache.keep(entryName(input), tree, { shape: "tree", sha256: null, selinuxLabels });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function fetchFiles({ images, cache }: InputFetcherOptions, files: FileInput[], signal: AbortSignal) {
  const [first] = files;
  if (first === undefined) return;
  const dir = await cache.temporary();
  try {
    const wanted = new Set(files.map((file) => file.path));
    const tree = path.join(dir, "tree");
    const filter = (entry: string) => wanted.has(entry);
    await images.extract(first.repository, first.digest, first.arch, tree, { filter, signal });
    for (const file of files) {
      const place = path.join(tree, file.path);
      const info = await lstat(place).catch(() => null);
      // Absent ones are reported by whoever needs them.
      if (info?.isFile()) await cache.keep(entryName(file), place, { shape: "file", sha256: null });
    }
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Names hold the digest, not the repository: equal digests are equal bytes wherever they come from. */
function entryName(input: PlanInput): string {
  const what = input.kind === "image-tree" ? "tree" : `file:${input.path}`;
  const identity = [input.digest, input.arch, what].join("\n");
  return `inputs/${createHash("sha256").update(identity).digest("hex")}`;
}

function toProduct({ path: place, meta }: CacheEntry): Product {
  const labels = meta.selinuxLabels === undefined ? {} : { selinuxLabels: meta.selinuxLabels };
  return { path: place, shape: meta.shape, ...labels };
}

function missing(input: PlanInput): AppError {
  const what = input.kind === "image-file" ? `regular file ${input.path}` : "content";
  return new AppError(
    "not_found",
    `image ${input.repository}@${input.digest} has no ${what} for ${input.arch}`,
    {
      hint: "The release at the source is incomplete; choose another version.",
      details: { repository: input.repository, digest: input.digest, arch: input.arch },
      retryable: false,
    },
  );
}
