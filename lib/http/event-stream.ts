/** Sends server-sent events (HTML standard §9.2) on the raw response. */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { clientSignal } from "./send-bytes.ts";

export interface ServerEvent {
  id: string;
  type: string;
  data: unknown;
}

/** A comment this often keeps proxies awake. */
const KEEP_ALIVE_MS = 15_000;

const eventText = ({ id, type, data }: ServerEvent): string =>
  `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;

/**
 * Answers 200 and writes events until the source ends or the client leaves. A source that fails is told to `sayFailure`,
 * whose words go out as an event `failure`; the name "error" belongs to the connection in browsers.
 */
export async function sendEvents(
  out: ServerResponse,
  source: (signal: AbortSignal) => AsyncIterable<ServerEvent>,
  sayFailure: (error: unknown) => string,
): Promise<void> {
  const signal = clientSignal(out);
  out.writeHead(200, {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
  });
  out.flushHeaders();
  const alive = setInterval(() => out.write(": keep-alive\n\n"), KEEP_ALIVE_MS);
  try {
    for await (const event of source(signal)) {
      if (signal.aborted) break;
      if (!out.write(eventText(event))) await once(out, "drain", { signal });
    }
  } catch (error) {
    if (!signal.aborted)
      out.write(`event: failure\ndata: ${JSON.stringify({ message: sayFailure(error) })}\n\n`);
  } finally {
    clearInterval(alive);
    out.end();
  }
}
