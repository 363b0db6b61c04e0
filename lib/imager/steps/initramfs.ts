/** Step "initramfs": microcode in front, the release's own initramfs untouched, the extensions appended. */
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { quirks } from "../../domain/quirks.ts";
import { CPIO_FILE, CPIO_FOLDER, cpioHeader, cpioPadding, cpioTrailer } from "../../formats/cpio.ts";
import { SOURCE_DATE_EPOCH } from "../epoch.ts";
import { need, textParam } from "../params.ts";
import type { StepContext, StepFunction } from "../types.ts";
import { gatherStaging, type StagedEntry } from "./staging.ts";
import { type Piece, writePieces } from "./write-pieces.ts";

/**
 * Levels chosen by measurement (docs/adr/0002-initramfs-compression.md). More than one thread is always asked for:
 * both programs then split the input the same way on every machine, and the bytes do not depend on its cores.
 * The kernel's xz decoder knows CRC32 only.
 */
const COMPRESSORS = {
  zstd: ["zstd", ["-9", "-T4", "-c", "-q"]],
  xz: ["xz", ["-0", "-T4", "-C", "crc32", "-c", "-q"]],
} as const;

/** Params: version. Needs: own initramfs, module index, packed extensions in their numbering. */
export const initramfsStep: StepFunction = async (params, needs, ctx) => {
  const stock = need(needs, 0).path;
  const staging = await gatherStaging(need(needs, 1), needs.slice(2));
  const early = staging.filter(({ path }) => isEarly(path));
  const main = staging.filter(({ path }) => !isEarly(path));
  const archive = join(ctx.dir, "main.cpio");
  await writePieces(archive, cpioArchive(main), ctx.signal);
  const compressed = await compressArchive(archive, quirks(textParam(params, "version")).compression, ctx);
  const path = join(ctx.dir, "initramfs.xz");
  const pieces: Piece[] = [
    ...(early.length === 0 ? [] : cpioArchive(early)),
    { file: stock, length: (await lstat(stock)).size },
    { file: compressed },
  ];
  await writePieces(path, pieces, ctx.signal);
  return { path, shape: "file" };
};

/** The kernel looks for microcode in an uncompressed archive at the very beginning. */
const isEarly = (path: string): boolean => path === "kernel" || path.startsWith("kernel/");

async function compressArchive(
  archive: string,
  kind: keyof typeof COMPRESSORS,
  ctx: StepContext,
): Promise<string> {
  const [tool, args] = COMPRESSORS[kind];
  const stdoutFile = `${archive}.${kind}`;
  await ctx.run(tool, [...args], { stdin: { file: archive }, stdoutFile, signal: ctx.signal });
  return stdoutFile;
}

/** The pieces of a whole archive, end mark included. */
function cpioArchive(entries: StagedEntry[]): Piece[] {
  const subfolders = countSubfolders(entries);
  const pieces: Piece[] = [];
  let length = 0;
  for (const [inode, { path, content }] of entries.entries()) {
    const sizeBytes = content?.sizeBytes ?? 0;
    const header = cpioHeader(
      {
        name: path,
        mode: content === null ? CPIO_FOLDER | 0o755 : CPIO_FILE | 0o644,
        links: content === null ? 2 + (subfolders.get(path) ?? 0) : 1,
        sizeBytes,
        mtime: SOURCE_DATE_EPOCH,
      },
      inode,
    );
    const padding = cpioPadding(sizeBytes);
    pieces.push(header, ...(content?.pieces ?? []), padding);
    length += header.length + sizeBytes + padding.length;
  }
  pieces.push(cpioTrailer(length));
  return pieces;
}

/** How many folders each folder holds directly. */
function countSubfolders(entries: StagedEntry[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { path, content } of entries) {
    const slash = path.lastIndexOf("/");
    if (content !== null || slash < 0) continue;
    const parent = path.slice(0, slash);
    counts.set(parent, (counts.get(parent) ?? 0) + 1);
  }
  return counts;
}
