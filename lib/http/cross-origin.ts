/** What pages of other sites may do here: read the public routes (CORS), and change nothing. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { isIP } from "node:net";

const EXPOSED = "Content-Disposition, Content-Length, Content-Type";
const READING = new Set(["GET", "HEAD", "OPTIONS"]);

const first = (value: string | string[] | undefined) => (Array.isArray(value) ? value[0] : value);

/** Our own API tells what this factory builds and for whom; only its own pages may read it. */
const isPublic = (path: string): boolean => path !== "/api" && !path.startsWith("/api/");

/** A CORS preflight (Fetch standard, "CORS-preflight fetch"), answered before routing. True when it was one. */
export function answerPreflight(req: IncomingMessage, res: ServerResponse, path: string): boolean {
  const wanted = first(req.headers["access-control-request-method"]);
  if (req.method !== "OPTIONS" || !wanted) return false;
  const headers: Record<string, string> = {
    Vary: "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
  };
  if (READING.has(wanted) && isPublic(path)) {
    headers["Access-Control-Allow-Origin"] = "*";
    headers["Access-Control-Allow-Methods"] = wanted;
    const asked = first(req.headers["access-control-request-headers"]);
    if (asked && /^[\w ,-]{1,500}$/.test(asked))
      headers["Access-Control-Allow-Headers"] = asked.toLowerCase();
  }
  res.writeHead(204, headers).end();
  return true;
}

/** Lets pages of other sites read this answer, when the request is one for a public route. */
export function allowReading(req: IncomingMessage, res: ServerResponse, path: string): void {
  if (!req.headers.origin || !READING.has(req.method ?? "") || !isPublic(path)) return;
  res.setHeader("Access-Control-Allow-Origin", "*");
  res.setHeader("Access-Control-Expose-Headers", EXPOSED);
}

/** Takes that leave back: the answer is a page of ours, or holds what only its owner should read. */
export function forbidReading(res: ServerResponse): void {
  res.removeHeader("Access-Control-Allow-Origin");
  res.removeHeader("Access-Control-Expose-Headers");
}

/** Ends of names that public DNS does not give away: RFC 6761, 6762, 8375, ICANN's "internal", and routers' habits. */
const HOME_NAMES = /(?:^|\.)(?:localhost|local|home\.arpa|internal|lan|home|corp|intranet|test)$/;

/** Names that no other site can let point here: addresses, names of one word, names that only exist in a network at home. */
const isFixedName = (hostname: string): boolean =>
  isIP(hostname.replace(/^\[|\]$/g, "")) !== 0 || !hostname.includes(".") || HOME_NAMES.test(hostname);

/**
 * True for a request that changes something and comes from a page of another site. Programs send no Origin; browsers send
 * it with every post, over plain HTTP too (Fetch standard §3.2), unlike Sec-Fetch-Site. `publicHost` is that of EXTERNAL_URL.
 * That Origin and Host name the same host says nothing where a stranger's name may have been made to point at us (DNS
 * rebinding), so this counts for addresses and for names of a network at home only. Posting a schematic is open: it is content-addressed and
 * starts no work.
 */
export function isForeignPost(req: IncomingMessage, path: string, publicHost: string): boolean {
  const { origin, host } = req.headers;
  if (origin === undefined || READING.has(req.method ?? "") || path === "/schematics") return false;
  if (!URL.canParse(origin)) return true;
  const from = new URL(origin);
  if (from.host === publicHost) return false;
  return from.host !== host?.toLowerCase() || !isFixedName(from.hostname);
}
