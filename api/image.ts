/** GET|HEAD /image/:schematic/:version/:path: one file of one schematic, built when needed, its checksums and signature. */
import { createHash } from "node:crypto";
import { createRoute, z } from "@hono/zod-openapi";
import { type Sidecar, splitSidecar } from "../lib/domain/asset-path.ts";
import { contentTypeOf } from "../lib/domain/content-type.ts";
import { invalidInput, notFound } from "../lib/errors/app-error.ts";
import { BUNDLE_MEDIA_TYPE } from "../lib/formats/image-signature.ts";
import { attachment, safeFileName } from "../lib/http/disposition.ts";
import { clientSignal, type Representation } from "../lib/http/send-bytes.ts";
import type { BuildView, ReadyAsset, ResolvedAsset } from "../lib/services/contracts.ts";
import { type Api, type ApiContext, answer, createApi, requestIdOf } from "./create-api.ts";
import { bytesRepresentation, json, send, TEXT } from "./replies.ts";

const route = createRoute({
  method: "get",
  path: "/image/{schematic}/{version}/{path}",
  tags: ["images"],
  summary: "Download one file of a schematic",
  description:
    "Builds the file when nobody asked for it before. Append .sha256 or .sha512 for its checksum, .sigstore.json for its signature; SHA256SUMS lists the checksums of all files that are ready. HEAD never builds. `Prefer: respond-async` or `?async=1` answers 202 with the address of the build.",
  request: {
    params: z.object({ schematic: z.string(), version: z.string(), path: z.string() }),
    query: z.object({ filename: z.string().optional(), async: z.string().optional() }),
  },
  responses: {
    200: { description: "The file", content: { "application/octet-stream": { schema: z.string() } } },
    202: { description: "The build was started; Location names it" },
    206: { description: "The range that was asked for" },
    400: { description: "The path, the version or the schematic does not allow this file" },
    404: { description: "Unknown schematic or version" },
    501: { description: "A kind of file that is not built yet; the text names what is missing" },
    503: { description: "The source registry is away; Retry-After tells when to come back" },
  },
});

/** Name of the list of checksums, as sha256sum -c takes it. */
const SUMS = "SHA256SUMS";

const base64 = (hex: string) => Buffer.from(hex, "hex").toString("base64");

function assetHeaders(path: string, filename: string | undefined): Record<string, string> {
  return { "Content-Type": contentTypeOf(path), "Content-Disposition": attachment(filename || path) };
}

/** Digest (RFC 3230) and Repr-Digest (RFC 9530) of the whole file. */
function digestHeaders(asset: { sha256: string; sha512: string }): Record<string, string> {
  return {
    Digest: `sha-256=${base64(asset.sha256)}`,
    "Repr-Digest": `sha-256=:${base64(asset.sha256)}:, sha-512=:${base64(asset.sha512)}:`,
  };
}

function storedRepresentation(
  c: ApiContext,
  asset: ReadyAsset,
  headers: Record<string, string>,
): Representation {
  return {
    sizeBytes: asset.sizeBytes,
    etag: `"${asset.sha256}"`,
    headers: { ...headers, ...digestHeaders(asset), "X-Asset-State": "ready" },
    open: (range, signal) => c.var.services.assets.open(asset, range, signal),
  };
}

/** A small text about a file: what it says, once the digests of the file are known. */
interface About {
  suffix: string;
  contentType: string;
  body: (digest: (algorithm: "sha256" | "sha512") => string, name: string) => string | Uint8Array;
}

const checksum = (algorithm: "sha256" | "sha512"): About => ({
  suffix: `.${algorithm}`,
  contentType: TEXT,
  body: (digest, name) => `${digest(algorithm)}  ${name}\n`,
});

function aboutOf(c: ApiContext, sidecar: Sidecar): About {
  if (sidecar !== "sigstore") return checksum(sidecar);
  const { signing } = c.var.services;
  // Without a key nothing is built for a signature that cannot be made.
  signing.publicKeyPem();
  const body: About["body"] = (digest) => signing.fileBundle(digest("sha256"));
  return { suffix: ".sigstore.json", contentType: BUNDLE_MEDIA_TYPE, body };
}

const wantsAsync = (c: ApiContext): boolean =>
  /(^|[,;\s])respond-async($|[,;\s])/.test(c.req.header("prefer") ?? "") || c.req.query("async") === "1";

function accepted(c: ApiContext, build: BuildView): Response {
  const location = `/api/v1/builds/${build.id}`;
  return json(c, { id: build.id, state: build.state, location }, 202, {
    Location: location,
    "Retry-After": "2",
    "Preference-Applied": "respond-async",
  });
}

/** HEAD of something nobody built yet: what is known without work. */
const absent = (headers: Record<string, string>): Response =>
  new Response(null, { status: 200, headers: { ...headers, "X-Asset-State": "absent" } });

async function answerFile(
  c: ApiContext,
  resolved: ResolvedAsset,
  headers: Record<string, string>,
): Promise<Response> {
  const { assets, checksums } = c.var.services;
  const inline = assets.inline(resolved);
  const ready = inline ? null : await assets.findReady(resolved.assetKey);
  if (inline || ready) await checksums.note(resolved);
  if (inline) return send(c, bytesRepresentation(inline, headers));
  if (ready) return send(c, storedRepresentation(c, ready, headers));
  if (c.req.method === "HEAD") return absent(headers);
  if (wantsAsync(c)) return accepted(c, await assets.start(resolved, { requestId: requestIdOf(c) }));
  const built = await build(c, resolved);
  return send(c, storedRepresentation(c, built, headers));
}

async function build(c: ApiContext, resolved: ResolvedAsset): Promise<ReadyAsset> {
  const signal = clientSignal(c.env.outgoing);
  const built = await c.var.services.assets.ensure(resolved, { requestId: requestIdOf(c), signal });
  await c.var.services.checksums.note(resolved);
  return built;
}

async function answerAbout(
  c: ApiContext,
  resolved: ResolvedAsset,
  { suffix, contentType, body }: About,
  name: string,
): Promise<Response> {
  const { assets, checksums } = c.var.services;
  const headers = { "Content-Type": contentType, "Content-Disposition": attachment(name + suffix) };
  const inline = assets.inline(resolved);
  const ready = inline ? null : await assets.findReady(resolved.assetKey);
  if (inline || ready) await checksums.note(resolved);
  else if (c.req.method === "HEAD") return absent(headers);
  const asset = inline ? null : (ready ?? (await build(c, resolved)));
  const digest = (algorithm: "sha256" | "sha512") =>
    asset?.[algorithm] ??
    createHash(algorithm)
      .update(inline ?? "")
      .digest("hex");
  return send(c, bytesRepresentation(Buffer.from(body(digest, name)), headers));
}

async function answerSums(c: ApiContext, schematic: string, version: string): Promise<Response> {
  const sums = Buffer.from(await c.var.services.checksums.sums(schematic, version));
  const headers = { "Content-Type": TEXT, "Content-Disposition": attachment(SUMS) };
  return send(c, bytesRepresentation(sums, { ...headers, "Cache-Control": "no-cache" }));
}

function refuseHostileNames(params: Record<string, string>): void {
  for (const [name, value] of Object.entries(params)) {
    if (value.includes("/")) throw notFound("404 page not found");
    if (value.length > 1024) throw invalidInput(`The ${name} in the path is longer than 1024 characters`);
  }
}

export function imageRoutes(): Api {
  const app = createApi();
  answer(app, route, async (c) => {
    const params = c.req.valid("param");
    refuseHostileNames(params);
    if (params.path === SUMS) return answerSums(c, params.schematic, params.version);
    const { path, sidecar } = splitSidecar(params.path);
    const resolved = await c.var.services.assets.resolve({
      schematicId: params.schematic,
      version: params.version,
      path,
    });
    const filename = c.req.query("filename");
    // The name goes into the text of a checksum, where a line break would begin another checksum.
    const name = filename ? safeFileName(filename) : path;
    if (sidecar !== null) return answerAbout(c, resolved, aboutOf(c, sidecar), name);
    return answerFile(c, resolved, assetHeaders(path, filename));
  });
  return app;
}
