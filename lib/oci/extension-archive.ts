/** Unpacks an archive that somebody sends as an extension: nothing in it is trusted. */
import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { PassThrough } from "node:stream";
import { pipeline } from "node:stream/promises";
import { AppError, invalidInput } from "../errors/app-error.ts";
import type { RunTool } from "../exec/run.ts";
import { readTar, type TarEntry, TarRefusal } from "../formats/tar-reader.ts";
import { type ByteBudget, openLayer, overBudget } from "./layer-stream.ts";
import { LayerTree } from "./layer-tree.ts";
import { throwIfCancelled } from "./retry.ts";
import { toStorageError } from "./storage-error.ts";
import type { ExtractedTree } from "./types.ts";

export interface ArchiveLimits {
  /** Bytes after decompression. */
  maxBytes: number;
  maxEntries: number;
}

const SELINUX = "SCHILY.xattr.security.selinux";
const WHAT = "The archive";
const MOST_PATH = 1_024;
const MOST_PART = 255;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROL = /[\x00-\x1f\x7f-\x9f\u2028\u2029]/;

interface Unpacking {
  tree: LayerTree;
  seen: Set<string>;
  /** Folders that something lies in. */
  parents: Set<string>;
  budget: ByteBudget;
  maxEntries: number;
  left: number;
}

/**
 * Unpacks a tar, tar.gz or tar.zst into `dir`, which is made. invalid_input naming the entry for whatever is damaged,
 * ambiguous or reaches out of the folder; too_large over a limit; cancelled. The folder is half done then.
 */
export async function unpackExtension(
  file: string,
  dir: string,
  limits: ArchiveLimits,
  { run, signal }: { run: RunTool; signal: AbortSignal },
): Promise<ExtractedTree> {
  const budget = { leftBytes: limits.maxBytes, limitBytes: limits.maxBytes };
  const { maxEntries } = limits;
  const tree = new LayerTree(dir, WHAT);
  const unpacking: Unpacking = {
    tree,
    seen: new Set(),
    parents: new Set(),
    budget,
    maxEntries,
    left: maxEntries,
  };
  const scratchFile = `${dir}.${randomUUID()}.tar`;
  const opening = { what: WHAT, run, scratchFile, budget, signal };
  try {
    await mkdir(dir, { recursive: true });
    const archive = await openLayer(file, opening);
    try {
      const bytes = new PassThrough();
      const feeding = pipeline([...archive.stages, bytes], { signal });
      // The loop below sees the same failure first; this keeps it from being an unhandled rejection meanwhile.
      feeding.catch(() => undefined);
      try {
        for await (const entry of readTar(bytes, { mostBytes: limits.maxBytes }))
          await place(unpacking, entry);
        await feeding;
      } finally {
        bytes.destroy();
      }
    } finally {
      await archive.close();
    }
  } catch (error) {
    throwIfCancelled(WHAT, signal);
    throw toArchiveError(error);
  }
  return { dir, selinuxLabels: Object.fromEntries(tree.labels) };
}

async function place(unpacking: Unpacking, entry: TarEntry): Promise<void> {
  const { tree, seen, budget } = unpacking;
  unpacking.left -= 1;
  if (unpacking.left < 0)
    throw new AppError("too_large", `${WHAT} holds more than ${unpacking.maxEntries} files and folders`, {
      hint: "Leave out what the extension does not need.",
      retryable: false,
    });
  const path = cleanName(entry);
  if (path === "") return;
  if (seen.has(path)) throw new TarRefusal(entry.name, "it is there twice");
  seen.add(path);
  await makeParents(unpacking, path);
  const { kind, mode, linkTo } = entry;
  if (kind === "folder") await tree.folder(path, mode);
  // Whoever unpacked it can read it, or nothing could be checked.
  else if (kind === "file") await tree.file(path, mode | 0o400, entry.content);
  else if (kind === "link") await placeLink(tree, path, linkTo);
  else
    await tree.copy(path, cleanTarget(entry), (sizeBytes) => {
      budget.leftBytes -= sizeBytes;
      if (budget.leftBytes < 0) throw overBudget({ what: WHAT, budget });
    });
  const label = entry.records[SELINUX]?.replace(/\0+$/, "");
  if (label) tree.labels.set(path, label);
}

/** Folders that the archive does not name are open to everyone, as they lie above those of the machine. */
async function makeParents({ tree, seen, parents }: Unpacking, path: string): Promise<void> {
  const parts = path.split("/").slice(0, -1);
  for (const [index] of parts.entries()) {
    const parent = parts.slice(0, index + 1).join("/");
    if (parents.has(parent)) continue;
    parents.add(parent);
    if (!seen.has(parent)) await tree.folder(parent, 0o755);
  }
}

async function placeLink(tree: LayerTree, path: string, linkTo: string): Promise<void> {
  if (CONTROL.test(linkTo)) throw new TarRefusal(path, "its target has control characters");
  await tree.link(path, linkTo);
}

/** Path inside the archive, "" for its top. */
function cleanName({ name }: TarEntry): string {
  if (name.startsWith("/")) throw new TarRefusal(name, "its name is absolute");
  return cleanParts(name, name).join("/");
}

function cleanTarget({ name, linkTo }: TarEntry): string {
  if (linkTo.startsWith("/")) throw new TarRefusal(name, "it is a hard link to an absolute name");
  const target = cleanParts(linkTo, name).join("/");
  if (target === "") throw new TarRefusal(name, "it is a hard link to nothing");
  return target;
}

function cleanParts(text: string, name: string): string[] {
  if (CONTROL.test(text)) throw new TarRefusal(name, "its name has control characters");
  if (Buffer.byteLength(text) > MOST_PATH)
    throw new TarRefusal(name, `its name is longer than ${MOST_PATH} bytes`);
  const parts = text.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) throw new TarRefusal(name, "its name leaves the archive");
  if (parts.some((part) => Buffer.byteLength(part) > MOST_PART))
    throw new TarRefusal(name, `a part of its name is longer than ${MOST_PART} bytes`);
  return parts;
}

function toArchiveError(error: unknown): unknown {
  const hint = "Pack it with casthouse extension pack, or with tar; nothing of it was kept.";
  if (error instanceof TarRefusal) {
    const named = error.entry === null ? "" : `: the entry ${JSON.stringify(error.entry.slice(0, 300))}`;
    return invalidInput(`${WHAT} is refused${named}${named === "" ? ": " : ", "}${error.message}`, { hint });
  }
  const known = toStorageError(error);
  if (known instanceof AppError)
    return known.code === "source_invalid"
      ? invalidInput(known.message.replace("layer entry", "entry"), { hint, cause: error })
      : known;
  const message = error instanceof Error ? error.message : String(error);
  return invalidInput(`${WHAT} cannot be unpacked: ${message}`, { hint, cause: error });
}
