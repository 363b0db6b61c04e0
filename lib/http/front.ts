/** The front door of the server: request ID, CORS, clean paths and methods; then the API, then the pages. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { AppError } from "../errors/app-error.ts";
import { allowReading, answerPreflight, forbidReading, isForeignPost } from "./cross-origin.ts";
import { dialectOf, failureReply, toAppError } from "./failure.ts";
import { requestIdOf } from "./request-id.ts";
import { settleTarget } from "./request-target.ts";
import type { RouteTable } from "./route-table.ts";

export type NodeHandler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

export interface FrontOptions {
  /** Value of the Server header. */
  product: string;
  api: { routes: RouteTable; handle: NodeHandler };
  /** Pages and their static files; `routes` knows which paths exist. */
  pages: { routes: RouteTable; handle: NodeHandler };
  /** Host (and port) of EXTERNAL_URL. */
  publicHost: string;
  /** Called once per finished request. */
  onFinish: (entry: RequestEntry) => void;
  /** Called with what made a page fail; the API tells of its own failures. */
  onFailure: (error: unknown, entry: { requestId: string; path: string }) => void;
}

export interface RequestEntry {
  requestId: string;
  method: string;
  path: string;
  status: number;
  durationMs: number;
}

const first = (value: string | string[] | undefined) => (Array.isArray(value) ? value[0] : value);

function plain(
  res: ServerResponse,
  status: number,
  text: string,
  headers: Record<string, string> = {},
): void {
  const body = Buffer.from(text);
  res
    .writeHead(status, {
      "Content-Type": "text/plain; charset=utf-8",
      "X-Content-Type-Options": "nosniff",
      "Content-Length": String(body.length),
      ...headers,
    })
    .end(body);
}

function moved(req: IncomingMessage, res: ServerResponse, location: string, query: string): void {
  const target = location + query;
  if (req.method !== "GET" && req.method !== "HEAD") {
    res.writeHead(307, { Location: target, "Content-Length": "0" }).end();
    return;
  }
  const safe = target.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
  const body = Buffer.from(`<a href="${safe}">Moved Permanently</a>.\n\n`);
  res
    .writeHead(301, {
      Location: target,
      "Content-Type": "text/html; charset=utf-8",
      "Content-Length": String(body.length),
    })
    .end(body);
}

/** True when the caller is a browser that wants a page: it names HTML, or is the page router fetching a part of one. */
function wantsPage(req: IncomingMessage): boolean {
  return req.headers.rsc !== undefined || (req.headers.accept ?? "").includes("text/html");
}

/** RFC 9112 §3.2: more than one is refused, as two servers on the way could follow different ones. */
function hostHeaders(req: IncomingMessage): number {
  return req.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "host").length;
}

async function route(req: IncomingMessage, res: ServerResponse, options: FrontOptions): Promise<void> {
  const method = req.method ?? "GET";
  const url = req.url ?? "/";
  if (hostHeaders(req) > 1) return plain(res, 400, "the request has more than one Host header\n");
  // "OPTIONS *" asks about the server as a whole.
  if (method === "OPTIONS" && url === "*") {
    res.writeHead(200, { "Content-Length": "0" }).end();
    return;
  }
  if (!url.startsWith("/"))
    return plain(
      res,
      400,
      "the request target must be a path, or an address with the host that the Host header names\n",
    );
  const cut = url.indexOf("?");
  const path = cut < 0 ? url : url.slice(0, cut);
  const query = cut < 0 ? "" : url.slice(cut);
  if (isForeignPost(req, path, options.publicHost)) throw foreign();
  const { api, pages } = options;
  const answerPage = (): Promise<void> => {
    forbidReading(res);
    return pages.handle(req, res);
  };
  const apiMatch = api.routes.match(method, path);
  if (apiMatch.kind === "found" && !wantsPage(req)) return api.handle(req, res);
  const pageMatch = pages.routes.match(method, path);
  const apiAllow = api.routes.allow(path);
  if (pageMatch.kind === "found" && (apiAllow === null || wantsPage(req))) return answerPage();
  if (apiMatch.kind === "found") return api.handle(req, res);
  const allow = apiAllow ?? pages.routes.allow(path);
  if (allow && method === "OPTIONS") {
    res.writeHead(200, { Allow: allow, "Content-Length": "0" }).end();
    return;
  }
  if (allow) return plain(res, 405, "Method Not Allowed\n", { Allow: allow });
  if (apiMatch.kind === "moved") return moved(req, res, apiMatch.location, query);
  if (pageMatch.kind === "moved") return moved(req, res, pageMatch.location, query);
  if (wantsPage(req) && (method === "GET" || method === "HEAD")) return answerPage();
  return plain(res, 404, "404 page not found\n");
}

const foreign = () =>
  new AppError("forbidden", "This request was sent by a page of another site", {
    hint: "Send it with a program or from a page of this factory; pages opened under a name need EXTERNAL_URL to be that name",
    retryable: false,
  });

/** The request listener of the one HTTP server. Never throws; a failure becomes a reply or a cut connection. */
export function createFront(options: FrontOptions): (req: IncomingMessage, res: ServerResponse) => void {
  return (req, res) => {
    const started = performance.now();
    const requestId = requestIdOf(first(req.headers["x-request-id"]));
    req.headers["x-request-id"] = requestId;
    settleTarget(req, options.publicHost);
    const path = (req.url ?? "/").split("?", 1)[0] ?? "/";
    if (answerPreflight(req, res, path)) return;
    res.setHeader("Server", options.product);
    res.setHeader("X-Request-ID", requestId);
    res.setHeader("Vary", "Origin");
    allowReading(req, res, path);
    res.once("close", () => {
      const status = res.writableFinished ? res.statusCode : 499;
      options.onFinish({
        requestId,
        method: req.method ?? "",
        path,
        status,
        durationMs: Math.round(performance.now() - started),
      });
    });
    route(req, res, options).catch((error: unknown) => {
      if (toAppError(error).status >= 500) options.onFailure(error, { requestId, path });
      if (res.headersSent) {
        res.destroy();
        return;
      }
      const reply = failureReply(error, dialectOf(path), requestId);
      res.writeHead(reply.status, {
        ...reply.headers,
        "Content-Length": String(Buffer.byteLength(reply.body)),
      });
      res.end(req.method === "HEAD" ? undefined : reply.body);
    });
  };
}
