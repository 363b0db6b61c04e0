/** Parts that several builds share: on this machine first, in the object store for all machines. */
import { link, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import pLimit from "p-limit";
import { z } from "zod";
import { hexSchema } from "../../domain/digest-schemas.ts";
import type { RunTool } from "../../exec/run.ts";
import type { PartCache, Product } from "../../imager/types.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import { fileDigest } from "./content-digest.ts";
import type { CacheEntry, LocalCache } from "./local-cache.ts";
import { packTree, unpackTree } from "./tree-archive.ts";

/** The small object beside a part; written last, so a part without it does not exist. */
const sidecarSchema = z.object({
  v: z.literal(1),
  shape: z.enum(["file", "tree"]),
  /** Of the file, or of the archive of the tree. */
  sha256: hexSchema,
  selinuxLabels: z.record(z.string(), z.string()).exactOptional(),
});

type Sidecar = z.infer<typeof sidecarSchema>;

export interface PartCacheOptions {
  cache: LocalCache;
  store: ObjectStore;
  run: RunTool;
  onError: (error: unknown) => void;
}

export interface ClosablePartCache extends PartCache {
  /** Waits for uploads that run in the background. */
  close(): Promise<void>;
}

/** Uploads run one at a time behind the build's back: the next step needs the local product only. */
export function createPartCache(options: PartCacheOptions): ClosablePartCache {
  const oneAtATime = pLimit(1);
  const uploads = new Set<Promise<void>>();
  return {
    async find(op, key, signal) {
      const name = `${op}/${key}`;
      const local = await options.cache.find(name);
      if (local !== null) return toProduct(local);
      const fetched = await fetchPart(options, name, signal);
      return fetched === null ? null : toProduct(fetched);
    },
    async keep(op, key, product) {
      const name = `${op}/${key}`;
      const { shape, selinuxLabels } = product;
      const meta = { shape, sha256: null, ...(selinuxLabels === undefined ? {} : { selinuxLabels }) };
      const entry = await options.cache.keep(name, product.path, meta);
      const upload = oneAtATime(() => uploadPart(options, name, entry)).catch(options.onError);
      uploads.add(upload);
      void upload.finally(() => uploads.delete(upload));
      return toProduct(entry);
    },
    async close() {
      await Promise.all(uploads);
    },
  };
}

async function fetchPart(
  options: PartCacheOptions,
  name: string,
  signal: AbortSignal,
): Promise<CacheEntry | null> {
  const { cache, store, run, onError } = options;
  const dir = await cache.temporary();
  try {
    const sidecar = await fetchSidecar(options, name, dir, signal);
    if (sidecar === null) return null;
    const { shape, sha256, selinuxLabels } = sidecar;
    const file = path.join(dir, "part");
    if (!(await store.getFile(partKey(name), file, signal))) return null;
    if ((await fileDigest(file)) !== sha256) {
      onError(new Error(`part ${name} in the object store does not match its digest and is made anew`));
      return null;
    }
    const source = shape === "file" ? file : path.join(dir, "tree");
    if (shape === "tree") await unpackTree(run, file, source, signal);
    const meta = { shape, sha256: shape === "file" ? sha256 : null };
    return await cache.keep(name, source, {
      ...meta,
      ...(selinuxLabels === undefined ? {} : { selinuxLabels }),
    });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function fetchSidecar({ store }: PartCacheOptions, name: string, dir: string, signal: AbortSignal) {
  const file = path.join(dir, "sidecar");
  if (!(await store.getFile(sidecarKey(name), file, signal))) return null;
  const sidecar = sidecarSchema.safeParse(parseJson(await readFile(file, "utf8")));
  return sidecar.success ? sidecar.data : null;
}

async function uploadPart(options: PartCacheOptions, name: string, entry: CacheEntry): Promise<void> {
  const { cache, store, run } = options;
  const dir = await cache.temporary();
  try {
    const { shape, selinuxLabels } = entry.meta;
    const file = path.join(dir, "part");
    // A second name for the same bytes, because the store takes the file it is given.
    if (shape === "file") await link(entry.path, file);
    else await packTree(run, entry.path, file);
    const { sha256 } = await store.putFile(partKey(name), file);
    const sidecar: Sidecar = {
      v: 1,
      shape,
      sha256,
      ...(selinuxLabels === undefined ? {} : { selinuxLabels }),
    };
    const sidecarFile = path.join(dir, "sidecar");
    await writeFile(sidecarFile, JSON.stringify(sidecar));
    await store.putFile(sidecarKey(name), sidecarFile, { contentType: "application/json" });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

const partKey = (name: string) => `parts/${name}`;
const sidecarKey = (name: string) => `parts/${name}.json`;

function toProduct(entry: CacheEntry): Product {
  const { shape, selinuxLabels } = entry.meta;
  return { path: entry.path, shape, ...(selinuxLabels === undefined ? {} : { selinuxLabels }) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
