/** Writes an image layer: a tar of given members, gzip level 1 where that helps, hashed on both sides while it passes. */
import { createHash, type Hash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { promisify } from "node:util";
import { constants, crc32, deflateRaw } from "node:zlib";
import { crc32Combine } from "../../formats/crc32.ts";
import { gzipHeader, gzipTail, plainGzipHeader } from "../../formats/gzip-container.ts";
import { TAR_END_BYTES, type TarMember, tarHeader, tarPaddingBytes } from "../../formats/tar.ts";
import type { StepContext } from "../types.ts";
import { chunksOf, looksCompressible, readBytes } from "./chunks.ts";
import { Output } from "./output.ts";
import { findSegments } from "./segments.ts";

/** A file that may lie in a member in one piece, and the same as packed by packFile in the format ".gz". */
export interface KnownPiece {
  source: string;
  packed: string;
}

export interface LayerMember extends Omit<TarMember, "sizeBytes"> {
  /** Null for a folder and a link. */
  content: { file: string; sizeBytes: number; known?: readonly KnownPiece[] } | Uint8Array | null;
}

export interface PackedLayer {
  /** sha256:<hex> of the file. */
  digest: string;
  /** sha256:<hex> of the tar inside. */
  diffId: string;
  sizeBytes: number;
}

/** What packing needs of a step. */
type LayerContext = Pick<StepContext, "dir" | "run" | "signal">;

const deflate = promisify<Buffer, { level: number; finishFlush: number }, Buffer>(deflateRaw);
const TRAILER_BYTES = 8;
/** Chunks on the way at the same time: the thread pool of Node has four threads. */
const PARALLEL = 4;

/** Packs the members in the given order into a new file; equal members give equal bytes. */
export async function packLayer(
  members: readonly LayerMember[],
  path: string,
  ctx: LayerContext,
): Promise<PackedLayer> {
  const writing = new LayerWriting(await Output.create(path), ctx);
  try {
    await writing.begin();
    for (const member of members) await writing.add(member);
    return await writing.finish();
  } finally {
    await writing.close();
  }
}

class LayerWriting {
  readonly #packed: Hash = createHash("sha256");
  readonly #plain: Hash = createHash("sha256");
  /** Headers, paddings and small texts that wait to be packed together. */
  #small = Buffer.alloc(0);
  #sizeBytes = 0;
  #crc = 0;
  #length = 0;

  constructor(
    readonly output: Output,
    readonly ctx: LayerContext,
  ) {}

  begin(): Promise<void> {
    return this.#emit(plainGzipHeader());
  }

  async add({ content, ...member }: LayerMember): Promise<void> {
    const sizeBytes =
      content === null ? 0 : content instanceof Uint8Array ? content.length : content.sizeBytes;
    this.#keep(tarHeader({ ...member, sizeBytes }));
    if (content instanceof Uint8Array) this.#keep(content);
    else if (content !== null && sizeBytes > 0) {
      await this.#flush();
      await this.#addFile(content);
    }
    this.#keep(Buffer.alloc(tarPaddingBytes(sizeBytes)));
  }

  async finish(): Promise<PackedLayer> {
    this.#keep(Buffer.alloc(TAR_END_BYTES));
    await this.#flush();
    await this.#emit(gzipTail(this.#crc, this.#length));
    return {
      digest: `sha256:${this.#packed.digest("hex")}`,
      diffId: `sha256:${this.#plain.digest("hex")}`,
      sizeBytes: this.#sizeBytes,
    };
  }

  close(): Promise<void> {
    return this.output.close();
  }

  #keep(bytes: Uint8Array): void {
    this.#small = Buffer.concat([this.#small, bytes]);
  }

  async #flush(): Promise<void> {
    const bytes = this.#small;
    this.#small = Buffer.alloc(0);
    if (bytes.length > 0) await this.#addPiece(bytes, await deflatePiece(bytes));
  }

  async #emit(bytes: Uint8Array): Promise<void> {
    this.#packed.update(bytes);
    this.#sizeBytes += bytes.length;
    await this.output.write(bytes);
  }

  async #addPiece(plain: Buffer, packed: Buffer): Promise<void> {
    this.#plain.update(plain);
    this.#count(crc32(plain), plain.length);
    await this.#emit(packed);
  }

  #count(crc: number, length: number): void {
    this.#crc = crc32Combine(this.#crc, crc, length);
    this.#length += length;
  }

  async #addFile({ file: path, sizeBytes, known = [] }: FileContent): Promise<void> {
    const whole = [{ kind: "data", offset: 0, length: sizeBytes } as const];
    const sources = known.map(({ source }) => source);
    const segments = known.length === 0 ? whole : await findSegments(path, sources, this.ctx);
    const file = await open(path, "r");
    try {
      let offset = 0;
      for (const segment of segments) {
        const piece = segment.kind === "known" ? known[segment.index] : undefined;
        if (piece === undefined) await this.#addData(file, offset, segment.length);
        else await this.#addKnown(file, offset, segment.length, piece.packed);
        offset += segment.length;
      }
    } finally {
      await file.close();
    }
  }

  async #addData(file: FileHandle, offset: number, length: number): Promise<void> {
    const chunks = chunksOf(offset, length);
    for (let at = 0; at < chunks.length; at += PARALLEL) {
      this.ctx.signal.throwIfAborted();
      const group = await Promise.all(
        chunks.slice(at, at + PARALLEL).map(async (chunk) => {
          const plain = await readBytes(file, chunk.offset, chunk.length);
          return { plain, packed: await deflatePiece(plain) };
        }),
      );
      for (const { plain, packed } of group) await this.#addPiece(plain, packed);
    }
  }

  /** Takes over the deflate data of the packed file, without header, empty last block and trailer. */
  async #addKnown(file: FileHandle, offset: number, length: number, packedPath: string): Promise<void> {
    const packed = await open(packedPath, "r");
    try {
      const { size } = await packed.stat();
      const start = gzipHeader(null).length;
      const dataBytes = size - start - gzipTail(0, 0).length;
      for (const chunk of chunksOf(start, dataBytes))
        await this.#emit(await readBytes(packed, chunk.offset, chunk.length));
      const trailer = await readBytes(packed, size - TRAILER_BYTES, TRAILER_BYTES);
      this.#count(trailer.readUInt32LE(0), length);
    } finally {
      await packed.close();
    }
    for (const chunk of chunksOf(offset, length))
      this.#plain.update(await readBytes(file, chunk.offset, chunk.length));
  }
}

type FileContent = Exclude<LayerMember["content"], Uint8Array | null>;

/** Ends on a byte boundary and is not the last block, so that more deflate data may follow. */
const deflatePiece = (bytes: Buffer): Promise<Buffer> =>
  deflate(bytes, { level: looksCompressible(bytes) ? 1 : 0, finishFlush: constants.Z_SYNC_FLUSH });
