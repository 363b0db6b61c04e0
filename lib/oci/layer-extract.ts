/** Applies the layers of an image to a folder, lowest first: whiteouts, guards and limits of the OCI image-spec's layers. */
import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { type ExtractEvents, extract } from "tar-stream";
import { AppError } from "../errors/app-error.ts";
import type { RunTool } from "../exec/run.ts";
import { type ByteBudget, openLayer, overBudget } from "./layer-stream.ts";
import { cleanEntryPath, LayerTree, refusedEntry } from "./layer-tree.ts";
import { throwIfCancelled } from "./retry.ts";
import { toStorageError } from "./storage-error.ts";
import type { ExtractedTree, ExtractOptions } from "./types.ts";

const WHITEOUT = ".wh.";
const OPAQUE = ".wh..wh..opq";
const SELINUX = "SCHILY.xattr.security.selinux";
type Entry = ExtractEvents["entry"][1];

const DEFAULT_MAX_ENTRIES = 100_000;
const DEFAULT_MAX_BYTES = 8 * 1024 ** 3;

interface Unpacking {
  what: string;
  tree: LayerTree;
  filter: (path: string) => boolean;
  budget: ByteBudget;
  leftEntries: number;
  maxEntries: number;
  run: RunTool;
  signal: AbortSignal | undefined;
}

/**
 * Unpacks layer files (gzip, zstd or plain tar) over each other into `dir`, which is made when missing. Throws
 * source_invalid for damaged or hostile layers, too_large over a limit, out_of_space, cancelled; the folder is then
 * half done and belongs to the caller.
 */
export async function extractLayers(
  what: string,
  layerFiles: string[],
  dir: string,
  run: RunTool,
  options: ExtractOptions = {},
): Promise<ExtractedTree> {
  const maxEntries = options.maxEntries ?? DEFAULT_MAX_ENTRIES;
  const limitBytes = options.maxBytes ?? DEFAULT_MAX_BYTES;
  const unpacking: Unpacking = {
    what,
    tree: new LayerTree(dir, what),
    filter: options.filter ?? (() => true),
    budget: { leftBytes: limitBytes, limitBytes },
    leftEntries: maxEntries,
    maxEntries,
    run,
    signal: options.signal,
  };
  try {
    await mkdir(dir, { recursive: true });
    for (const file of layerFiles) await applyLayer(unpacking, file);
  } catch (error) {
    throwIfCancelled(what, options.signal);
    throw toLayerError(what, error);
  }
  return { dir, selinuxLabels: Object.fromEntries(unpacking.tree.labels) };
}

async function applyLayer(unpacking: Unpacking, file: string): Promise<void> {
  const { what, run, budget, signal, tree } = unpacking;
  tree.startLayer();
  const scratchFile = `${tree.dir}.${randomUUID()}.tar`;
  const layer = await openLayer(file, { what, run, scratchFile, budget, signal });
  try {
    const entries = extract();
    const feeding = pipeline([...layer.stages, entries], signal ? { signal } : {});
    // The loop below sees the same failure first; this keeps it from being an unhandled rejection meanwhile.
    feeding.catch(() => undefined);
    for await (const entry of entries) {
      await applyEntry(unpacking, entry);
      entry.resume();
    }
    await feeding;
  } finally {
    await layer.close();
  }
}

async function applyEntry(unpacking: Unpacking, entry: Entry): Promise<void> {
  const { header } = entry;
  const { tree, what } = unpacking;
  unpacking.leftEntries -= 1;
  if (unpacking.leftEntries < 0) {
    throw new AppError("too_large", `${what} has more than ${unpacking.maxEntries} layer entries`, {
      retryable: false,
    });
  }
  if (header.size > unpacking.budget.limitBytes) throw overBudget(unpacking);
  const path = cleanEntryPath(what, header.name);
  const slash = path.lastIndexOf("/");
  const name = path.slice(slash + 1);
  const parent = path.slice(0, Math.max(0, slash));
  if (name === OPAQUE) return tree.hideChildren(parent);
  if (name.startsWith(WHITEOUT)) {
    const hidden = name.slice(WHITEOUT.length);
    if (hidden === "" || hidden === "." || hidden === "..")
      throw refusedEntry(what, header.name, "it hides no name");
    // Other ".wh..wh." names are bookkeeping of an old union file system.
    return hidden.startsWith(WHITEOUT) ? undefined : tree.hide(slash < 0 ? hidden : `${parent}/${hidden}`);
  }
  if (!unpacking.filter(path)) return;
  await place(unpacking, path, entry);
}

async function place(unpacking: Unpacking, path: string, entry: Entry): Promise<void> {
  const { header } = entry;
  const records = paxRecords(header.pax);
  const { tree, what, budget } = unpacking;
  const { mode } = header;
  tree.labels.delete(path);
  switch (header.type) {
    case "directory":
      await tree.folder(path, mode);
      break;
    case "file":
    case "contiguous-file":
      if (Object.keys(records).some((key) => key.startsWith("GNU.sparse."))) {
        throw refusedEntry(what, header.name, "sparse files are not supported");
      }
      await tree.file(path, mode, bytesOf(entry));
      break;
    case "symlink":
      await tree.link(path, header.linkname ?? "");
      break;
    case "link":
      await tree.copy(path, cleanEntryPath(what, header.linkname ?? ""), (sizeBytes) => {
        budget.leftBytes -= sizeBytes;
        if (budget.leftBytes < 0) throw overBudget(unpacking);
      });
      break;
    default:
      throw refusedEntry(what, header.name, `it is a ${header.type ?? "file of an unknown kind"}`);
  }
  const label = records[SELINUX]?.replace(/\0+$/, "");
  if (label) tree.labels.set(path, label);
}

async function* bytesOf(entry: Entry): AsyncGenerator<Uint8Array> {
  for await (const chunk of entry) if (chunk instanceof Uint8Array) yield chunk;
}

/** Records of a PAX extended header (POSIX.1-2001 pax) that are texts. */
function paxRecords(pax: unknown): Record<string, string> {
  const pairs = Object.entries(pax ?? {}).filter(
    (pair): pair is [string, string] => typeof pair[1] === "string",
  );
  return Object.fromEntries(pairs);
}

function toLayerError(what: string, error: unknown): unknown {
  const known = toStorageError(error);
  if (known instanceof AppError) return known;
  const message = error instanceof Error ? error.message : String(error);
  return new AppError("source_invalid", `a layer of ${what} cannot be unpacked: ${message}`, {
    retryable: false,
    cause: error,
  });
}
