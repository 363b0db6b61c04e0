/** Brings the inputs of plans onto this machine: files and trees of source images, kept by digest. */
import { createHash } from "node:crypto";
import { copyFile, link, lstat, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { AppError } from "../../errors/app-error.ts";
import { IMAGE_FACTS, type ImageFacts, layerFile } from "../../imager/steps/base-image.ts";
import type { BuildPlan, PlanInput, Product, RunPlanOptions } from "../../imager/types.ts";
import { SingleFlight } from "../../oci/single-flight.ts";
import type { SourceImages } from "../../oci/types.ts";
import { archHere } from "./host-arch.ts";
import type { CacheEntry, LocalCache } from "./local-cache.ts";

export type FetchInput = RunPlanOptions["fetchInput"];

export interface InputFetcherOptions {
  images: Pick<SourceImages, "extract" | "platformManifest" | "blob">;
  cache: LocalCache;
}

/** Files and folders: read out of an image together. */
type FileInput = Extract<PlanInput, { kind: "image-file" | "image-folder" }>;
type TreeInput = Extract<PlanInput, { kind: "image-tree" }>;
type LayersInput = Extract<PlanInput, { kind: "image-layers" }>;

/**
 * Gives a fetchInput per plan. An image is read once for all its files that the plan names, because a layer can only
 * be unpacked from its beginning; builds that need the same at the same time share the work.
 */
export function createInputFetcher(
  options: InputFetcherOptions,
): (plan: Pick<BuildPlan, "inputs">) => FetchInput {
  const flights = new SingleFlight<void>();
  return (plan) => async (planned, signal) => {
    const input = forThisMachine(planned);
    const known = await options.cache.find(entryName(input));
    if (known !== null) return toProduct(known);
    if (input.kind === "image-tree") {
      await flights.join(entryName(input), (shared) => fetchTree(options, input, shared), { signal });
    } else if (input.kind === "image-layers") {
      await flights.join(entryName(input), (shared) => fetchLayers(options, input, shared), { signal });
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

/** "host" becomes the architecture of this machine, so that both have one entry. */
const forThisMachine = (input: PlanInput): PlanInput =>
  input.kind === "image-tree" || input.kind === "image-layers"
    ? { ...input, arch: archHere(input.arch) }
    : input;

const isSameImage = (other: PlanInput, input: FileInput) =>
  (other.kind === "image-file" || other.kind === "image-folder") &&
  other.digest === input.digest &&
  other.arch === input.arch;

async function fetchTree({ images, cache }: InputFetcherOptions, input: TreeInput, signal: AbortSignal) {
  const dir = await cache.temporary();
  try {
    const tree = path.join(dir, "tree");
    const { selinuxLabels } = await images.extract(
      input.repository,
      input.digest,
      archHere(input.arch),
      tree,
      {
        signal,
      },
    );
    await cache.keep(entryName(input), tree, { shape: "tree", sha256: null, selinuxLabels });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Layers stay in the blob cache; the entry has second names for them. */
async function fetchLayers({ images, cache }: InputFetcherOptions, input: LayersInput, signal: AbortSignal) {
  const { repository, digest, arch } = input;
  const dir = await cache.temporary();
  try {
    const { manifest } = await images.platformManifest(repository, digest, archHere(arch), signal);
    const blobs = await Promise.all(
      [manifest.config, ...manifest.layers].map((blob) => images.blob(repository, blob, signal)),
    );
    const [config = "", ...layers] = blobs;
    const tree = path.join(dir, "image");
    await mkdir(path.join(tree, "layers"), { recursive: true });
    for (const [index, source] of layers.entries()) {
      const target = layerFile(tree, index);
      await link(source, target).catch(() => copyFile(source, target));
    }
    const name = `${repository}@${digest}`;
    const facts: ImageFacts = { name, config: await readConfig(name, config), layers: manifest.layers };
    await writeFile(path.join(tree, IMAGE_FACTS), JSON.stringify(facts));
    await cache.keep(entryName(input), tree, { shape: "tree", sha256: null });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function readConfig(name: string, file: string): Promise<ImageFacts["config"]> {
  const text = await readFile(file, "utf8");
  try {
    const config: unknown = JSON.parse(text);
    if (typeof config === "object" && config !== null && !Array.isArray(config)) return { ...config };
  } catch {
    // Said below.
  }
  throw new AppError("source_invalid", `the configuration of ${name} is not a JSON object`, {
    retryable: false,
  });
}

async function fetchFiles({ images, cache }: InputFetcherOptions, files: FileInput[], signal: AbortSignal) {
  const [first] = files;
  if (first === undefined) return;
  const dir = await cache.temporary();
  try {
    const wanted = new Set(files.map((file) => file.path));
    const folders = files.filter((file) => file.kind === "image-folder").map((file) => `${file.path}/`);
    const tree = path.join(dir, "tree");
    const filter = (entry: string) => wanted.has(entry) || folders.some((folder) => entry.startsWith(folder));
    await images.extract(first.repository, first.digest, first.arch, tree, { filter, signal });
    for (const file of files) {
      const place = path.join(tree, file.path);
      const info = await lstat(place).catch(() => null);
      // Absent ones are reported by whoever needs them.
      if (file.kind === "image-folder") await keepFolder(cache, file, info?.isDirectory() ? place : null);
      else if (info?.isFile()) await cache.keep(entryName(file), place, { shape: "file", sha256: null });
    }
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** A folder that the image does not have is kept as an empty one. */
async function keepFolder(cache: LocalCache, file: FileInput, place: string | null): Promise<void> {
  const empty = place === null ? await cache.temporary() : null;
  try {
    if (empty !== null) await mkdir(path.join(empty, "tree"));
    const source = place ?? path.join(empty ?? "", "tree");
    await cache.keep(entryName(file), source, { shape: "tree", sha256: null });
  } finally {
    if (empty !== null) await rm(empty, { recursive: true, force: true });
  }
}

const KEPT_AS = {
  "image-file": "file",
  "image-folder": "folder",
  "image-tree": "tree",
  "image-layers": "layers",
} as const;

/** Names hold the digest, not the repository: equal digests are equal bytes wherever they come from. */
function entryName(input: PlanInput): string {
  const what =
    input.kind === "image-file" || input.kind === "image-folder"
      ? `${KEPT_AS[input.kind]}:${input.path}`
      : KEPT_AS[input.kind];
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
