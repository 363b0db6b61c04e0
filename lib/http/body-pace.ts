/** Whether the body of a request keeps coming: any size may be sent, but not in drops. */
import type { IncomingMessage } from "node:http";

export interface BodyPace {
  /** A body must be whole, or bring `bytes` more, in each span of so many milliseconds. */
  everyMs: number;
  bytes: number;
}

/**
 * Schematics and forms are smaller than `bytes`, so they have one minute as a whole; an upload may take hours over a line
 * of 4 KiB a second.
 */
export const BODY_PACE: BodyPace = { everyMs: 60_000, bytes: 240 * 1024 };

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

/** Calls `onStall` once when the body stops coming. Bytes that wait here to be read are not the sender's fault. */
export function watchBody(req: IncomingMessage, { everyMs, bytes }: BodyPace, onStall: () => void): void {
  if (!hasBody(req)) return;
  const { socket } = req;
  let before = socket.bytesRead;
  const judge = () => {
    if (req.complete || req.destroyed) return clearInterval(timer);
    const waiting = req.readableLength > 0;
    const slow = socket.bytesRead - before < bytes;
    before = socket.bytesRead;
    if (waiting || !slow) return;
    clearInterval(timer);
    onStall();
  };
  // A busy process is late: what has come meanwhile is read before anybody is judged.
  const timer = setInterval(() => setImmediate(judge), everyMs);
  timer.unref();
  req.once("close", () => clearInterval(timer));
}
