/** Bodies of registry answers: read in chunks under an idle limit, or whole under a size limit. */
import { AppError } from "../errors/app-error.ts";
import { throwIfCancelled, unavailable } from "./retry.ts";

export interface RegistryResponse {
  status: number;
  headers: Headers;
  /** The body once; upstream_unavailable when the connection breaks or stays silent for too long. */
  chunks(): AsyncGenerator<Uint8Array>;
  /** Gives the connection back without reading the body. Every response is read to its end or discarded. */
  discard(): Promise<void>;
}

/** What ties a response to its request: the caller's signal, the request's own abort, and how to let go of both. */
export interface ResponseTie {
  what: string;
  signal: AbortSignal | undefined;
  abort: (reason: unknown) => void;
  release: () => void;
  idleTimeoutMs: number;
}

/** Wraps a fetch response; the tie is released when the body has ended, failed or was discarded. */
export function toRegistryResponse(response: Response, tie: ResponseTie): RegistryResponse {
  return {
    status: response.status,
    headers: response.headers,
    chunks: () => readChunks(response, tie),
    async discard() {
      tie.release();
      await response.body?.cancel().catch(() => undefined);
    },
  };
}

async function* readChunks(response: Response, tie: ResponseTie): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (!reader) return tie.release();
  let idle = false;
  try {
    for (;;) {
      const timer = setTimeout(() => {
        idle = true;
        tie.abort(new Error("no bytes in time"));
      }, tie.idleTimeoutMs);
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      if (done) return;
      yield value;
    }
  } catch (cause) {
    throwIfCancelled(tie.what, tie.signal);
    const reason = idle ? `no bytes came for ${tie.idleTimeoutMs} ms` : "the connection broke off";
    throw unavailable(tie.what, reason, undefined, cause);
  } finally {
    await reader.cancel().catch(() => undefined);
    tie.release();
  }
}

/** The whole body; too_large when it has more than maxBytes, counted while it arrives. */
export async function readWhole(
  response: RegistryResponse,
  what: string,
  maxBytes: number,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let received = 0;
  for await (const chunk of response.chunks()) {
    received += chunk.byteLength;
    if (received > maxBytes) {
      throw new AppError("too_large", `${what} has more than ${maxBytes} bytes`, { retryable: false });
    }
    parts.push(chunk);
  }
  return Buffer.concat(parts, received);
}
