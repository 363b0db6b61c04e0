/** The handful of ways a handler answers: text, JSON, YAML, kept bytes, or a whole representation on the raw response. */
import { createHash } from "node:crypto";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { z } from "@hono/zod-openapi";
import { type Representation, sendRepresentation } from "../lib/http/send-bytes.ts";
import type { ApiContext } from "./create-api.ts";

/** RFC 9457 with members of our own, as failure.ts in lib/http writes it. */
const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number(),
    detail: z.string(),
    code: z.string(),
    hint: z.string().optional(),
    requestId: z.string(),
    details: z.object({}).loose().optional(),
  })
  .openapi("Problem");

/** How a route outside /api/v1 and /v2 describes an answer in one sentence: when it comes. */
export const sentence = (description: string) => ({
  description,
  content: { "text/plain": { schema: z.string() } },
});

/** How a route below /api/v1 describes an answer of 4xx or 5xx: when it comes. */
export const problem = (description: string) => ({
  description,
  content: { "application/problem+json": { schema: problemSchema } },
});

export const TEXT = "text/plain; charset=utf-8";

/**
 * A body with exact length; `status` 200 unless given. Written to the connection at once: a Response object with its
 * stream costs more than all else of a short answer.
 */
export function reply(
  c: ApiContext,
  body: string | Uint8Array,
  contentType: string,
  status = 200,
  headers: Record<string, string> = {},
): Response {
  const length = typeof body === "string" ? Buffer.byteLength(body) : body.length;
  const head = { "Content-Type": contentType, "Content-Length": String(length), ...headers };
  c.env.outgoing.writeHead(status, head).end(body);
  return RESPONSE_ALREADY_SENT;
}

/** JSON as Go writes it: "<", ">" and "&" escaped, one newline at the end. */
export function goJson(value: unknown): string {
  const escaped = JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `${escaped}\n`;
}

/** Plain JSON of our own API. */
export const json = (
  c: ApiContext,
  value: unknown,
  status = 200,
  headers: Record<string, string> = {},
): Response => reply(c, `${JSON.stringify(value)}\n`, "application/json", status, headers);

/** Sends a representation with ranges and conditions on the raw response. */
export async function send(c: ApiContext, representation: Representation): Promise<Response> {
  await sendRepresentation(c.env.incoming, c.env.outgoing, representation);
  return RESPONSE_ALREADY_SENT;
}

/** A representation of bytes held in memory; its entity tag is their SHA-256. */
export function bytesRepresentation(bytes: Uint8Array, headers: Record<string, string>): Representation {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return {
    sizeBytes: bytes.length,
    etag: `"${sha256}"`,
    headers,
    bytes,
    open: (range) => Promise.resolve(range ? bytes.subarray(range.start, range.end + 1) : bytes),
  };
}
