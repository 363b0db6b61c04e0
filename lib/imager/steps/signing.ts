/** What signing steps share: the right keys, and a signature put into an EFI program where it stands. */
import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { AppError } from "../../errors/app-error.ts";
import { type SignablePe, signablePe, signPe } from "../../formats/authenticode.ts";
import { optionalTextParam, textParam } from "../params.ts";
import type { Json, SigningKeys, StepContext } from "../types.ts";

const HEAD_BYTES = 64 * 1024;
const CHUNK_BYTES = 1024 * 1024;

/**
 * The keys the plan was made for: `params` holds certificate, and pcrKey and databases where they matter. internal when
 * this process has none or others, which happens when web and worker are configured differently.
 */
export function requireKeys(params: Record<string, Json>, ctx: StepContext): SigningKeys {
  const { keys } = ctx;
  if (!keys) throw disagree("this worker has no SecureBoot keys");
  const other =
    textParam(params, "certificate") !== keys.identity.certificate ||
    (params.pcrKey !== undefined && textParam(params, "pcrKey") !== keys.identity.pcrKey) ||
    (params.databases !== undefined && optionalTextParam(params, "databases") !== keys.identity.databases);
  if (other) throw disagree("this worker has other SecureBoot keys than the process that planned the build");
  return keys;
}

const disagree = (message: string): AppError =>
  new AppError("internal", message, {
    hint: "Give every web and worker process the same SECUREBOOT_ files.",
    retryable: false,
  });

/** Signs the EFI program `path` in place; an older signature is replaced. build_failed when it is no such program. */
export async function signInPlace(path: string, keys: SigningKeys, ctx: StepContext): Promise<void> {
  const file = await open(path, "r+");
  try {
    const { size } = await file.stat();
    const pe = await readLayout(file, size);
    await file.truncate(pe.contentBytes);
    const { tableEntry, table } = signPe(pe, await digest(file, pe, ctx.signal), keys);
    await writeAt(file, tableEntry, pe.tableEntryOffset);
    await writeAt(file, table, pe.contentBytes);
  } finally {
    await file.close();
  }
}

async function readLayout(file: FileHandle, sizeBytes: number): Promise<SignablePe> {
  const head = Buffer.alloc(Math.min(HEAD_BYTES, sizeBytes));
  await file.read(head, 0, head.length, 0);
  try {
    return signablePe(head, sizeBytes);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new AppError("build_failed", `an EFI program of the release cannot be signed: ${reason}`, {
      retryable: false,
      cause,
    });
  }
}

async function digest(file: FileHandle, { hashed }: SignablePe, signal: AbortSignal): Promise<Uint8Array> {
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (const { offset, length } of hashed) {
    for (let done = 0; done < length; ) {
      signal.throwIfAborted();
      const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, length - done), offset + done);
      if (bytesRead === 0) throw new RangeError("the file became shorter while it was hashed");
      hash.update(buffer.subarray(0, bytesRead));
      done += bytesRead;
    }
  }
  return new Uint8Array(hash.digest());
}

async function writeAt(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
  }
}
