/** GET|HEAD /v2 and below: the pull half of the OCI distribution-spec 1.1 over installers and mirrored source images. */

import { z } from "@hono/zod-openapi";
import { parseRegistryPath, type RegistryRequest, registryError } from "../lib/domain/registry-path.ts";
import { clientSignal, type Representation } from "../lib/http/send-bytes.ts";
import type { RegistryDocument } from "../lib/services/registry/contracts.ts";
import { type Api, type ApiContext, createApi, requestIdOf } from "./create-api.ts";
import { reply, send } from "./replies.ts";

const API_VERSION = { "Docker-Distribution-Api-Version": "registry/2.0" };
/** What a digest names never changes. */
const FOR_EVER = { "Cache-Control": "max-age=31536000" };
const MOST_TAGS = 10_000;

/** Whoever brought an own image wrote its bytes: no browser is to take them for a page of ours. */
const guardOf = ({ target }: RegistryRequest): Record<string, string> =>
  target.kind === "own" ? { "X-Content-Type-Options": "nosniff" } : {};

const callOf = (c: ApiContext) => ({ requestId: requestIdOf(c), signal: clientSignal(c.env.outgoing) });

function documentRepresentation(
  { digest, mediaType, bytes }: RegistryDocument,
  headers: Record<string, string> = {},
): Representation {
  return {
    sizeBytes: bytes.length,
    etag: `"${digest}"`,
    headers: {
      "Content-Type": mediaType,
      "Docker-Content-Digest": digest,
      ...API_VERSION,
      ...headers,
    },
    open: (range) => Promise.resolve(range ? bytes.subarray(range.start, range.end + 1) : bytes),
  };
}

/** Only for now: tomorrow the same name may be served from here. */
const handOver = (location: string): Response =>
  new Response(null, {
    status: 307,
    headers: { Location: location, "Content-Length": "0", "Cache-Control": "no-store", ...API_VERSION },
  });

async function answerManifest(c: ApiContext, request: RegistryRequest): Promise<Response> {
  const accept = c.req.header("accept");
  const call = { ...callOf(c), ...(accept === undefined ? {} : { accept }) };
  const document = await c.var.services.registry.manifest(request, call);
  if (document.location !== undefined) return handOver(document.location);
  const fixed = request.reference === document.digest;
  // Which manifest a tag gives depends on Accept as well.
  const keeping: Record<string, string> = fixed ? FOR_EVER : { Vary: "Origin, Accept" };
  return send(c, documentRepresentation(document, { ...keeping, ...guardOf(request) }));
}

async function answerBlob(c: ApiContext, request: RegistryRequest): Promise<Response> {
  const blob = await c.var.services.registry.blob(request, callOf(c));
  if (blob.location !== undefined) return handOver(blob.location);
  return send(c, {
    sizeBytes: blob.sizeBytes,
    etag: `"${blob.digest}"`,
    headers: {
      "Content-Type": "application/octet-stream",
      "Docker-Content-Digest": blob.digest,
      ...API_VERSION,
      ...FOR_EVER,
      ...guardOf(request),
    },
    open: (range, signal) => blob.open(range, signal),
  });
}

async function answerReferrers(c: ApiContext, request: RegistryRequest): Promise<Response> {
  // Media types hold no space: one stands for a "+" that was sent as it is.
  const artifactType = c.req.query("artifactType")?.replaceAll(" ", "+") || undefined;
  const call = { ...callOf(c), ...(artifactType === undefined ? {} : { artifactType }) };
  const document = await c.var.services.registry.referrers(request, call);
  const filtered = artifactType === undefined ? {} : { "OCI-Filters-Applied": "artifactType" };
  return send(c, documentRepresentation(document, filtered));
}

async function answerTags(c: ApiContext, request: RegistryRequest): Promise<Response> {
  const last = c.req.query("last");
  const most = mostTags(c.req.query("n"));
  const { name, tags, more } = await c.var.services.registry.tags(request, {
    ...callOf(c),
    ...(last === undefined ? {} : { last }),
    ...(most === undefined ? {} : { most }),
  });
  const next =
    more && tags.length > 0 ? `</v2/${name}/tags/list?n=${most}&last=${tags.at(-1)}>; rel="next"` : null;
  return reply(c, `${JSON.stringify({ name, tags })}\n`, "application/json", 200, {
    ...API_VERSION,
    ...(next === null ? {} : { Link: next }),
  });
}

function mostTags(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Math.min(Number(text), MOST_TAGS);
  throw registryError("invalid_input", "NAME_INVALID", "the number of tags to list is not a number");
}

function answerRegistry(c: ApiContext): Response | Promise<Response> {
  const path = (c.env.incoming.url ?? "").split("?", 1)[0] ?? "";
  const request = parseRegistryPath(path);
  if (request === null) return new Response(null, { headers: { "Content-Length": "0", ...API_VERSION } });
  switch (request.resource) {
    case "manifests":
      return answerManifest(c, request);
    case "blobs":
      return answerBlob(c, request);
    case "referrers":
      return answerReferrers(c, request);
    case "tags":
      return answerTags(c, request);
  }
}

const failures = {
  404: {
    description: "OCI error object: NAME_UNKNOWN, MANIFEST_UNKNOWN, BLOB_UNKNOWN or DIGEST_INVALID",
    content: { "application/json": { schema: z.object({ errors: z.array(z.object({}).loose()) }) } },
  },
};

/** Names have two or more segments, which path templates cannot say; these describe what the one route below answers. */
const DOCUMENTED = [
  { path: "/v2/", summary: "The registry speaks the OCI distribution-spec", name: false, last: null },
  {
    path: "/v2/{name}/manifests/{reference}",
    summary: "Manifest or index by tag or digest",
    name: true,
    last: "reference",
  },
  { path: "/v2/{name}/blobs/{digest}", summary: "Blob, with ranges", name: true, last: "digest" },
  {
    path: "/v2/{name}/referrers/{digest}",
    summary: "What says something about a manifest",
    name: true,
    last: "digest",
  },
  { path: "/v2/{name}/tags/list", summary: "Tags that exist", name: true, last: null },
] as const;

export function registryRoutes(): Api {
  const app = createApi();
  for (const { path, summary, name, last } of DOCUMENTED) {
    const params = z.object({
      ...(name ? { name: z.string().openapi({ example: "metal-installer/<schematic>" }) } : {}),
      ...(last === null ? {} : { [last]: z.string() }),
    });
    app.openAPIRegistry.registerPath({
      method: "get",
      path,
      tags: ["registry"],
      summary,
      request: { params },
      responses: { 200: { description: "As the OCI distribution-spec says" }, ...failures },
    });
  }
  app.get("/v2/*", (c) => answerRegistry(c));
  return app;
}
