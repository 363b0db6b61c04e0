/** Compresses a disk image or a file that lies in one, without reading its holes. */
import { open, stat } from "node:fs/promises";
import { sparseTarHeader, tarEndBytes } from "../../formats/gnu-sparse-tar.ts";
import { SOURCE_DATE_EPOCH } from "../epoch.ts";
import type { StepContext } from "../types.ts";
import { type GzipFrame, packGzip } from "./gzip.ts";
import type { PackJob } from "./job.ts";
import { findSegments, type Segment } from "./segments.ts";
import { packXz } from "./xz.ts";
import { packZstd } from "./zstd.ts";

export const PACK_FORMATS = [".xz", ".zst", ".gz", ".tar.gz"] as const;
export type PackFormat = (typeof PACK_FORMATS)[number];

export interface KnownPart {
  /** The file as it lies in the image. */
  source: string;
  /** The same, packed in the same format (".gz" for ".tar.gz") by packFile. */
  packed: string;
}

export interface PackRequest {
  path: string;
  format: PackFormat;
  /** Name inside a gzip header; null for a part. */
  name: string | null;
  known: readonly KnownPart[];
  output: string;
}

/** Writes the packed file to `output`. What is packed are equal bytes for equal input on every machine. */
export async function packFile(request: PackRequest, ctx: StepContext): Promise<void> {
  const sources = request.known.map(({ source }) => source);
  const segments = await findSegments(request.path, sources, ctx);
  ctx.progress(20);
  const source = await open(request.path, "r");
  const parts = request.known.map(({ packed }) => packed);
  const thorough = request.name === null;
  const job: PackJob = { source, segments, parts, output: request.output, thorough };
  const plain: GzipFrame = { fileName: request.name, before: EMPTY, after: EMPTY, skipZeros: false };
  try {
    switch (request.format) {
      case ".xz":
        return await packXz(job, ctx);
      case ".zst":
        return await packZstd(job, ctx);
      case ".gz":
        return await packGzip(job, plain, ctx);
      case ".tar.gz": {
        const { size } = await stat(request.path);
        const tar = tarFrame(segments, size);
        return await packGzip(job, { ...tar, fileName: null, skipZeros: true }, ctx);
      }
    }
  } finally {
    await source.close();
  }
}

const EMPTY = new Uint8Array(0);

/** Header and end of an archive with the one member disk.raw, whose zeros are left out. */
function tarFrame(segments: readonly Segment[], sizeBytes: number): Pick<GzipFrame, "before" | "after"> {
  const extents: { offset: number; length: number }[] = [];
  for (const segment of segments) {
    if (segment.kind === "zeros") continue;
    const last = extents.at(-1);
    if (last !== undefined && last.offset + last.length === segment.offset) last.length += segment.length;
    else extents.push({ offset: segment.offset, length: segment.length });
  }
  const before = sparseTarHeader({ name: "disk.raw", sizeBytes, extents, mtime: SOURCE_DATE_EPOCH });
  const stored = extents.reduce((sum, { length }) => sum + length, before.length);
  return { before, after: new Uint8Array(tarEndBytes(stored)) };
}
