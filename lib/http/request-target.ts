/** Where a request goes: whole addresses as targets, and callers too old to name a host. */
import type { IncomingMessage } from "node:http";

const WHOLE = /^https?:\/\/([^/?#]*)(.*)$/i;

/**
 * Cuts scheme and host off a target that is a whole address (RFC 9112 §3.2.2), when they are those of the Host header: some
 * proxies send it so. Any other stays as it is. HTTP/1.0 knows no Host header (§3.2); what it asks for is asked of `publicHost`.
 */
export function settleTarget(req: IncomingMessage, publicHost: string): void {
  if (req.headers.host === undefined && req.httpVersion === "1.0") req.headers.host = publicHost;
  const [, host, rest = ""] = WHOLE.exec(req.url ?? "") ?? [];
  if (host === undefined || host.toLowerCase() !== req.headers.host?.toLowerCase()) return;
  req.url = rest.startsWith("/") ? rest : `/${rest}`;
}
