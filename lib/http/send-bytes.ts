/** Sends one representation with exact lengths, ranges, conditions and HEAD; the only place that knows them. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { AppError } from "../errors/app-error.ts";
import { isCopyable } from "../storage/file-reader.ts";
import type { ByteRange } from "../storage/object-store.ts";
import { evaluate } from "./range-and-conditions.ts";

export interface Representation {
  sizeBytes: number;
  /** Strong entity tag with quotes. */
  etag: string;
  headers: Record<string, string>;
  /** The bytes themselves, where they are at hand: then nothing is opened. */
  bytes?: Uint8Array;
  /** Opens the bytes; called at most once, never for HEAD or 304. */
  open: (range: ByteRange | undefined, signal: AbortSignal) => Promise<Readable | Uint8Array>;
}

const header = (req: IncomingMessage, name: string): string | undefined => {
  const value = req.headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
};

const signals = new WeakMap<ServerResponse, AbortSignal>();

/** Aborts when the client goes away before the reply was finished; the same signal for every caller. */
export function clientSignal(res: ServerResponse): AbortSignal {
  const known = signals.get(res);
  if (known) return known;
  const controller = new AbortController();
  signals.set(res, controller.signal);
  const leave = () => {
    if (!res.writableFinished)
      controller.abort(new AppError("cancelled", "The client closed the connection"));
  };
  // It may have left before anybody asked: that event does not come a second time.
  if (res.closed || res.destroyed) leave();
  else res.once("close", leave);
  return controller.signal;
}

async function sendBody(
  res: ServerResponse,
  body: Readable | Uint8Array,
  signal: AbortSignal,
): Promise<void> {
  if (body instanceof Uint8Array) {
    res.end(body);
    return;
  }
  try {
    if (isCopyable(body)) {
      await body.copyTo(res);
      res.end();
    } else await pipeline(body, res, { signal });
  } catch (error) {
    // The head is out: the only honest answer to a failing source is to cut the connection.
    res.destroy();
    if (!signal.aborted) throw error;
  }
}

/**
 * Answers GET or HEAD on the raw response. Status 200, 206, 304, 412 or 416 by the request's conditions.
 * A source that fails after the head was sent cuts the connection, so that no client takes a part for the whole.
 */
export async function sendRepresentation(
  req: IncomingMessage,
  res: ServerResponse,
  representation: Representation,
): Promise<void> {
  const { sizeBytes, etag } = representation;
  const answer = evaluate(
    {
      range: req.method === "GET" || req.method === "HEAD" ? header(req, "range") : undefined,
      ifRange: header(req, "if-range"),
      ifNoneMatch: header(req, "if-none-match"),
      ifMatch: header(req, "if-match"),
    },
    etag,
    sizeBytes,
  );
  const headers: Record<string, string> = { ...representation.headers, ETag: etag, "Accept-Ranges": "bytes" };
  if (answer.status === 304 || answer.status === 412 || answer.status === 416) {
    if (answer.status === 416) headers["Content-Range"] = `bytes */${sizeBytes}`;
    if (answer.status !== 304) headers["Content-Length"] = "0";
    else delete headers["Content-Length"];
    res.writeHead(answer.status, headers).end();
    return;
  }
  const range = answer.status === 206 ? answer.range : undefined;
  headers["Content-Length"] = String(range ? range.end - range.start + 1 : sizeBytes);
  if (range) headers["Content-Range"] = `bytes ${range.start}-${range.end}/${sizeBytes}`;
  if (req.method === "HEAD") {
    res.writeHead(answer.status, headers).end();
    return;
  }
  if (representation.bytes) {
    const { bytes } = representation;
    res.writeHead(answer.status, headers);
    res.end(range ? bytes.subarray(range.start, range.end + 1) : bytes);
    return;
  }
  const signal = clientSignal(res);
  const body = await representation.open(range, signal);
  res.writeHead(answer.status, headers);
  await sendBody(res, body, signal);
}
