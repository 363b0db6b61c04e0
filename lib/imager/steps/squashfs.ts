/** Packs a list of entries into a squashfs: all owned by root, one time stamp, SELinux labels kept. */
import { createReadStream, createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { pack } from "tar-stream";
import { EPOCH_ENVIRONMENT, SOURCE_DATE_EPOCH } from "../epoch.ts";
import type { StepContext } from "../types.ts";

export interface SquashfsEntry {
  /** Relative path with "/" and without leading slash; "" for the root folder. */
  path: string;
  /** Permission bits. */
  mode: number;
  label?: string;
  content: "folder" | { linkTo: string } | { file: string; sizeBytes: number } | { bytes: Uint8Array };
}

export type SquashfsCompression = "zstd" | "xz";

/** 0.5 % larger than 18 in three fifths of the time; docs/adr/0003-squashfs-from-tar.md has the figures. */
const ZSTD_LEVEL = 15;

/**
 * Writes `out`. Entries come parents first, the root ("") too. tar2sqfs is used because it takes labels from the tar
 * headers: mksquashfs 4.5 can only read them from real files, which an unprivileged process may not label.
 */
export async function writeSquashfs(
  out: string,
  entries: SquashfsEntry[],
  compression: SquashfsCompression,
  ctx: Pick<StepContext, "run" | "signal">,
): Promise<void> {
  const tar = `${out}.tar`;
  await writeTar(tar, entries, ctx.signal);
  const compressor = compression === "zstd" ? ["-c", "zstd", "-X", `level=${ZSTD_LEVEL}`] : ["-c", "xz"];
  await ctx.run("tar2sqfs", ["-q", "-f", "-e", "-T", ...compressor, out], {
    stdin: { file: tar },
    env: EPOCH_ENVIRONMENT,
    signal: ctx.signal,
  });
  // It lies in what becomes a part.
  await rm(tar);
}

async function writeTar(path: string, entries: SquashfsEntry[], signal: AbortSignal): Promise<void> {
  const tar = pack();
  const written = pipeline(tar, createWriteStream(path), { signal });
  const filled = fill(tar, entries, signal).catch((error: unknown) => {
    tar.destroy(error instanceof Error ? error : new Error(String(error)));
    throw error;
  });
  await Promise.all([filled, written]);
}

async function fill(
  tar: ReturnType<typeof pack>,
  entries: SquashfsEntry[],
  signal: AbortSignal,
): Promise<void> {
  for (const entry of entries) {
    signal.throwIfAborted();
    const header = {
      name: entry.path === "" ? "./" : entry.path,
      mode: entry.mode,
      uid: 0,
      gid: 0,
      mtime: new Date(SOURCE_DATE_EPOCH * 1000),
      ...(entry.label === undefined ? {} : { pax: { "SCHILY.xattr.security.selinux": entry.label } }),
    };
    const { content } = entry;
    if (content === "folder") tar.entry({ ...header, type: "directory" });
    else if ("linkTo" in content) tar.entry({ ...header, type: "symlink", linkname: content.linkTo });
    else if ("bytes" in content) tar.entry({ ...header, type: "file" }, Buffer.from(content.bytes));
    else {
      const sink = tar.entry({ ...header, type: "file", size: content.sizeBytes });
      await pipeline(createReadStream(content.file, { highWaterMark: 1024 * 1024 }), sink, { signal });
    }
  }
  tar.finalize();
}
