/** The one HTTP server: time limits for slow callers, and words for what is no HTTP request at all. */
import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { BODY_PACE, watchBody } from "./body-pace.ts";

/** A request head that has not arrived after this time is given up; for bodies see body-pace.ts. */
const HEAD_MS = 10_000;
const CHECK_MS = 2_000;
/** Longer than the idle limits of usual load balancers (60 s), so that they close first. */
const KEEP_ALIVE_MS = 65_000;

const STALLED = "ERR_HTTP_REQUEST_TIMEOUT";

/** What the parser of Node.js found wrong, by its code; anything else is 400. */
const REFUSALS: Record<string, [status: string, text: string]> = {
  HPE_HEADER_OVERFLOW: ["431 Request Header Fields Too Large", "the request head is larger than 16 KiB"],
  [STALLED]: ["408 Request Timeout", "the request did not arrive in time"],
};

/** How long a sender that stalled has to read why its connection ends. */
const FAREWELL_MS = 1_000;

/** Creates the server around the front door; the caller lets it listen. */
export function createHttpServer(listener: RequestListener, pace = BODY_PACE): Server {
  const replies = new WeakMap<Duplex, ServerResponse[]>();
  const openReplies = (socket: Duplex) => (replies.get(socket) ?? []).filter((reply) => !reply.closed);
  const server = createServer(
    { headersTimeout: HEAD_MS, requestTimeout: 0, connectionsCheckingInterval: CHECK_MS },
    (req, res) => {
      replies.set(req.socket, [...openReplies(req.socket), res]);
      watchBody(req, pace, () => {
        const stalled = Object.assign(new Error("the body stopped coming"), { code: STALLED });
        server.emit("clientError", stalled, req.socket);
        setTimeout(() => req.socket.destroy(), FAREWELL_MS).unref();
      });
      listener(req, res);
    },
  );
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    // In the middle of a reply any further words would be taken for a part of it.
    const begun = openReplies(socket).some((reply) => reply.headersSent);
    if (socket.writable && error.code !== "ECONNRESET" && !begun) socket.end(refusal(error));
    else socket.destroy();
  });
  return server;
}

function refusal({ code = "" }: NodeJS.ErrnoException): string {
  const [status, text] = REFUSALS[code] ?? ["400 Bad Request", "this is not a valid HTTP request"];
  const body = `${text}\n`;
  const headers = {
    "Content-Type": "text/plain; charset=utf-8",
    "X-Content-Type-Options": "nosniff",
    "Content-Length": Buffer.byteLength(body),
    Connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status}\r\n${lines.join("")}\r\n${body}`;
}
