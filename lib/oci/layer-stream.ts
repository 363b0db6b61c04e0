/** Opens a layer blob as a plain tar stream, whatever its compression, and never gives more bytes than allowed. */
import { createReadStream } from "node:fs";
import { open, rm, stat } from "node:fs/promises";
import { type Readable, Transform } from "node:stream";
import { createGunzip } from "node:zlib";
import { AppError } from "../errors/app-error.ts";
import type { RunTool } from "../exec/run.ts";

export interface ByteBudget {
  /** Bytes that may still come out of the layers; counted down while streaming. */
  leftBytes: number;
  limitBytes: number;
}

export interface LayerStreamOptions {
  /** For messages: "siderolabs/gvisor@sha256:...". */
  what: string;
  run: RunTool;
  /** File that may be written while a zstd layer is read. */
  scratchFile: string;
  budget: ByteBudget;
  signal?: AbortSignal | undefined;
}

export interface LayerStream {
  /** Stages to be joined by stream.pipeline, the last one gives the tar bytes. */
  stages: [Readable, ...Transform[]];
  close(): Promise<void>;
}

const WATCH_MS = 50;
/** For its window. It is what zstd takes unless told otherwise, so no writer goes above it without knowing. */
const ZSTD_MEMORY = "128MB";
const CHUNK_BYTES = 1 << 20;

/** The first bytes decide about the compression (RFC 1952, RFC 8878), not the media type, which lies at times. */
export async function openLayer(path: string, options: LayerStreamOptions): Promise<LayerStream> {
  const magic = await firstBytes(path);
  if (magic.startsWith("1f8b")) {
    return {
      stages: [read(path), createGunzip({ chunkSize: CHUNK_BYTES }), counter(options)],
      close: nothing,
    };
  }
  if (magic !== "28b52ffd" && !/^5.2a4d18$/.test(magic)) {
    return { stages: [read(path), counter(options)], close: nothing };
  }
  const close = () => rm(options.scratchFile, { force: true });
  try {
    await unpackZstd(path, options);
  } catch (error) {
    await close();
    throw error;
  }
  return { stages: [read(options.scratchFile), counter(options)], close };
}

/** Node 20 has no zstd: the program writes the tar next to the tree, and is stopped when it writes too much. */
async function unpackZstd(path: string, options: LayerStreamOptions): Promise<void> {
  const controller = new AbortController();
  const onAbort = () => controller.abort(options.signal?.reason);
  options.signal?.addEventListener("abort", onAbort, { once: true });
  if (options.signal?.aborted) onAbort();
  let tooLarge = false;
  const watch = setInterval(() => {
    void stat(options.scratchFile).then(
      ({ size }) => {
        if (size <= options.budget.leftBytes) return;
        tooLarge = true;
        controller.abort();
      },
      () => undefined,
    );
  }, WATCH_MS);
  try {
    await options.run("zstd", ["-d", "-q", "-c", `--memory=${ZSTD_MEMORY}`], {
      stdin: { file: path },
      stdoutFile: options.scratchFile,
      signal: controller.signal,
    });
  } catch (error) {
    if (tooLarge) throw overBudget(options);
    if (options.signal?.aborted || !(error instanceof AppError) || error.code !== "tool_failed") throw error;
    throw new AppError("source_invalid", `a layer of ${options.what} is not readable as zstd`, {
      retryable: false,
      cause: error,
    });
  } finally {
    clearInterval(watch);
    options.signal?.removeEventListener("abort", onAbort);
  }
}

function counter(options: LayerStreamOptions): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      options.budget.leftBytes -= chunk.byteLength;
      if (options.budget.leftBytes < 0) done(overBudget(options));
      else done(null, chunk);
    },
  });
}

/** too_large: the unpacked layers together have more bytes than allowed. */
export function overBudget({ what, budget }: { what: string; budget: ByteBudget }): AppError {
  return new AppError("too_large", `${what} unpacks to more than ${budget.limitBytes} bytes`, {
    retryable: false,
  });
}

async function firstBytes(path: string): Promise<string> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    const hex = buffer.subarray(0, bytesRead).toString("hex");
    return hex.startsWith("1f8b") ? "1f8b" : hex;
  } finally {
    await file.close();
  }
}

const read = (path: string): Readable => createReadStream(path, { highWaterMark: CHUNK_BYTES });
const nothing = async (): Promise<void> => undefined;
