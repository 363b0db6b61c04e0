/** talosctl downloads: the files of siderolabs/talosctl-all, unpacked once into the object store. */
import { lstat, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { digestHex } from "../../domain/digest.ts";
import { digestSchema, hexSchema } from "../../domain/digest-schemas.ts";
import { quirks } from "../../domain/quirks.ts";
import { quoteText } from "../../domain/quote.ts";
import { AppError, notFound } from "../../errors/app-error.ts";
import { SingleFlight } from "../../oci/single-flight.ts";
import type { SourceImages } from "../../oci/types.ts";
import { hashFile } from "../../storage/hashing.ts";
import type { ObjectStore } from "../../storage/object-store.ts";
import type { ReleaseService, TalosctlFile, TalosctlService } from "../contracts.ts";

export interface TalosctlOptions {
  releases: Pick<ReleaseService, "require">;
  images: Pick<SourceImages, "resolveTag" | "extract">;
  store: ObjectStore;
  /** Folder for files on their way into the store. */
  scratchDir: string;
}

const REPOSITORY = "siderolabs/talosctl-all";
/** The same image for every architecture; this variant is the one every release has. */
const VARIANT = "amd64";
const NAME = /^talosctl-[a-z0-9]+-[a-z0-9]+(?:\.exe)?$/;
const TRUST_MS = 15 * 60_000;
const MOST_LIST_BYTES = 1024 * 1024;

const listSchema = z.object({
  v: z.literal(1),
  digest: digestSchema,
  files: z.array(
    z.object({
      name: z.string().regex(NAME),
      sizeBytes: z.int(),
      sha256: hexSchema,
    }),
  ),
});
type List = z.infer<typeof listSchema>;

const listKey = (version: string) => `talosctl/${version}.json`;
const fileKey = ({ sha256 }: TalosctlFile) => `talosctl/sha256/${sha256}`;

/** Lists are believed for a quarter of an hour, and while the source is away. */
export function createTalosctlService(options: TalosctlOptions): TalosctlService {
  const memory = new LRUCache<string, List>({ max: 200, ttl: TRUST_MS });
  const flights = new SingleFlight<List>();

  async function list(
    written: string,
    signal?: AbortSignal,
  ): Promise<{ version: string; files: TalosctlFile[] }> {
    const { version } = await options.releases.require(written);
    if (!quirks(version).talosctlDownload) return { version, files: [] };
    const known = memory.get(version);
    if (known !== undefined) return { version, files: known.files };
    const found = await flights.join(version, (shared) => findList(options, version, shared), { signal });
    memory.set(version, found);
    return { version, files: found.files };
  }

  return {
    list,
    async require(written, name, signal) {
      const { version, files } = await list(written, signal);
      if (files.length === 0) throw unavailable(version);
      const file = files.find((one) => one.name === name);
      if (file !== undefined) return file;
      throw notFound(`${quoteText(name.slice(0, 100))} is not a file of talosctl ${version}`, {
        hint: `Files: ${files.map((one) => one.name).join(", ")}.`,
      });
    },
    open: (file, range, signal) => options.store.get(fileKey(file), range, signal),
  };
}

const unavailable = (version: string): AppError =>
  notFound(`version ${version.replace(/^v/, "")} is not available`, {
    hint: "talosctl is offered for Talos 1.11.0 and later.",
  });

async function findList(options: TalosctlOptions, version: string, signal: AbortSignal): Promise<List> {
  const kept = await readList(options.store, version);
  let digest: string | null;
  try {
    digest = await options.images.resolveTag(REPOSITORY, version, signal);
  } catch (error) {
    if (kept !== null && error instanceof AppError && error.code === "upstream_unavailable") return kept;
    throw error;
  }
  if (digest === null) throw unavailable(version);
  if (kept?.digest === digest && (await isWhole(options.store, kept))) return kept;
  return unpack(options, version, digest, signal);
}

async function isWhole(store: ObjectStore, list: List): Promise<boolean> {
  const found = await Promise.all(list.files.map((file) => store.head(fileKey(file))));
  return found.every((object, index) => object?.sizeBytes === list.files[index]?.sizeBytes);
}

async function unpack(
  options: TalosctlOptions,
  version: string,
  digest: string,
  signal: AbortSignal,
): Promise<List> {
  const { images, store, scratchDir } = options;
  await mkdir(scratchDir, { recursive: true });
  const dir = await mkdtemp(path.join(scratchDir, `talosctl-${digestHex(digest).slice(0, 12)}-`));
  try {
    const tree = path.join(dir, "tree");
    const filter = (entry: string) => /^talosctl-[^/]*$/.test(entry);
    await images.extract(REPOSITORY, digest, VARIANT, tree, { filter, signal });
    const files: TalosctlFile[] = [];
    for (const name of (await readdir(tree)).sort()) {
      const place = path.join(tree, name);
      const info = await lstat(place);
      if (!NAME.test(name) || !info.isFile()) {
        throw new AppError(
          "source_invalid",
          `${REPOSITORY}:${version} holds ${quoteText(name)}, which is no talosctl`,
          {
            retryable: false,
          },
        );
      }
      files.push(await keep(store, place, name, signal));
    }
    const list: List = { v: 1, digest, files };
    await store.put(listKey(version), Readable.from([Buffer.from(JSON.stringify(list))]), { signal });
    return list;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Under its own digest, so that readers of an older list are never given other bytes. */
async function keep(
  store: ObjectStore,
  place: string,
  name: string,
  signal: AbortSignal,
): Promise<TalosctlFile> {
  const { sizeBytes, sha256 } = await hashFile(place, signal);
  const file = { name, sizeBytes, sha256 };
  if ((await store.head(fileKey(file)))?.sizeBytes !== sizeBytes)
    await store.putFile(fileKey(file), place, { signal });
  return file;
}

async function readList(store: ObjectStore, version: string): Promise<List | null> {
  const object = await store.head(listKey(version));
  if (object === null || object.sizeBytes > MOST_LIST_BYTES) return null;
  const chunks: Buffer[] = [];
  for await (const chunk of await store.get(listKey(version))) chunks.push(Buffer.from(chunk));
  try {
    return listSchema.parse(JSON.parse(Buffer.concat(chunks).toString("utf8")));
  } catch {
    return null;
  }
}
