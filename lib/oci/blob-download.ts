/** Streams one blob into a file while hashing it, and goes on where a broken connection stopped. */
import { createHash, type Hash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { AppError } from "../errors/app-error.ts";
import { imageName, type RegistryClient, wrongBytes } from "./registry-client.ts";
import type { RegistryResponse } from "./response-body.ts";
import { backoffMs, type Clock, DEFAULT_RETRY, type RetryPolicy, systemClock, unavailable } from "./retry.ts";
import { toStorageError } from "./storage-error.ts";
import type { Descriptor } from "./types.ts";

export interface DownloadOptions {
  signal: AbortSignal;
  onBytes: (receivedBytes: number) => void;
  retry?: RetryPolicy;
  clock?: Clock;
}

interface Download {
  file: FileHandle;
  hash: Hash;
  /** Bytes in the file, all of them hashed. */
  receivedBytes: number;
  /** True when the bytes come from more than one answer. */
  resumed: boolean;
}

/**
 * Writes the blob to `path` (a new file) and gives its digest, which is the one of the descriptor. Tries are counted only
 * while no byte comes; a blob that was put together from several answers and does not fit is fetched once more in one go.
 * Throws upstream_unavailable when the registry stays away, source_invalid when it sends other bytes than the descriptor
 * names, too_large when it sends more of them.
 */
export async function downloadBlob(
  client: RegistryClient,
  repository: string,
  descriptor: Descriptor,
  path: string,
  options: DownloadOptions,
): Promise<string> {
  const file = await open(path, "wx", 0o644);
  try {
    const download: Download = { file, hash: createHash("sha256"), receivedBytes: 0, resumed: false };
    for (;;) {
      await receiveAll(client, repository, descriptor, download, options);
      const actual = `sha256:${download.hash.digest("hex")}`;
      if (actual === descriptor.digest) break;
      const what = `the blob ${imageName(repository, descriptor.digest)}`;
      if (!download.resumed) throw wrongBytes(what, descriptor.digest, actual);
      await restart(download);
    }
    await file.sync();
    return descriptor.digest;
  } catch (error) {
    throw toStorageError(error);
  } finally {
    await file.close();
  }
}

async function receiveAll(
  client: RegistryClient,
  repository: string,
  descriptor: Descriptor,
  download: Download,
  options: DownloadOptions,
): Promise<void> {
  const { retry = DEFAULT_RETRY, clock = systemClock, signal } = options;
  const what = imageName(repository, descriptor.digest);
  for (let tries = 1; ; tries += 1) {
    const before = download.receivedBytes;
    let failure: AppError;
    try {
      const response = await client.openBlob(repository, descriptor.digest, download.receivedBytes, signal);
      await receive(response, what, descriptor.size, download, options.onBytes);
      if (download.receivedBytes === descriptor.size) return;
      failure = unavailable(what, `${download.receivedBytes} of ${descriptor.size} bytes came`);
    } catch (error) {
      if (!isBroken(error)) throw error;
      failure = error;
    }
    if (download.receivedBytes > before) tries = 1;
    if (tries >= retry.attempts) throw failure;
    await clock.sleep(backoffMs(retry, tries, clock.random()), signal).catch(() => undefined);
  }
}

/** Only what a second try can mend: not a refusal, a cancelled wait, too many bytes or a full disk. */
function isBroken(error: unknown): error is AppError {
  return (
    error instanceof AppError && error.code === "upstream_unavailable" && error.extra.retryable !== false
  );
}

async function receive(
  response: RegistryResponse,
  what: string,
  sizeBytes: number,
  download: Download,
  onBytes: (receivedBytes: number) => void,
): Promise<void> {
  if (response.status === 416 || (response.status === 206 && !startsAt(response, download.receivedBytes))) {
    await response.discard();
    await restart(download);
    throw unavailable(what, "the registry does not go on where the connection broke off");
  }
  if (response.status === 200 && download.receivedBytes > 0) await restart(download);
  if (download.receivedBytes > 0) download.resumed = true;
  for await (const chunk of response.chunks()) {
    if (download.receivedBytes + chunk.byteLength > sizeBytes) {
      throw new AppError(
        "too_large",
        `the blob ${what} has more than the ${sizeBytes} bytes its manifest names`,
        {
          retryable: false,
        },
      );
    }
    await writeFully(download.file, chunk, download.receivedBytes);
    download.hash.update(chunk);
    download.receivedBytes += chunk.byteLength;
    onBytes(download.receivedBytes);
  }
}

function startsAt(response: RegistryResponse, offset: number): boolean {
  return response.headers.get("content-range")?.match(/^bytes (\d+)-/)?.[1] === String(offset);
}

async function restart(download: Download): Promise<void> {
  await download.file.truncate(0);
  download.hash = createHash("sha256");
  download.receivedBytes = 0;
  download.resumed = false;
}

async function writeFully(file: FileHandle, chunk: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < chunk.byteLength; ) {
    const { bytesWritten } = await file.write(chunk, done, chunk.byteLength - done, position + done);
    done += bytesWritten;
  }
}
