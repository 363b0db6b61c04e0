/** How a file of a plan is answered, whichever route asks for it: ready, built while the client waits, or told about. */
import { createHash } from "node:crypto";
import type { Sidecar } from "../lib/domain/asset-path.ts";
import { contentTypeOf } from "../lib/domain/content-type.ts";
import { BUNDLE_MEDIA_TYPE } from "../lib/formats/image-signature.ts";
import { attachment } from "../lib/http/disposition.ts";
import { clientSignal, type Representation } from "../lib/http/send-bytes.ts";
import type { BuildView, ReadyAsset, ResolvedAsset } from "../lib/services/contracts.ts";
import { type ApiContext, requestIdOf } from "./create-api.ts";
import { bytesRepresentation, json, send, TEXT } from "./replies.ts";

/** A file that passed every check that needs no work. */
export interface AskedFile {
  asset: ResolvedAsset;
  /** Headers of every answer that carries or announces the file. */
  headers: Record<string, string>;
  /** Runs when the file was given out. */
  note: (asset: ResolvedAsset) => Promise<void>;
  /** Runs before a build is started; what it throws is the answer. */
  beforeBuild: (signal: AbortSignal) => Promise<void>;
}

const base64 = (hex: string) => Buffer.from(hex, "hex").toString("base64");

/** What is said about a file by its name alone. */
export function assetHeaders(path: string, filename: string | undefined): Record<string, string> {
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

/** The text that a sidecar ending asks for; not_found for a signature where nothing signs. */
export function aboutOf(c: ApiContext, sidecar: Sidecar): About {
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

/** The file itself. HEAD never builds; a client that does not want to wait gets 202. */
export async function answerFile(c: ApiContext, file: AskedFile): Promise<Response> {
  const { assets } = c.var.services;
  const { asset, headers } = file;
  const inline = assets.inline(asset);
  const ready = inline ? null : await assets.findReady(asset.assetKey);
  if (inline || ready) await file.note(asset);
  if (inline) return send(c, bytesRepresentation(inline, headers));
  if (ready) return send(c, storedRepresentation(c, ready, headers));
  if (c.req.method === "HEAD") return absent(headers);
  if (wantsAsync(c)) {
    await file.beforeBuild(clientSignal(c.env.outgoing));
    return accepted(c, await assets.start(asset, { requestId: requestIdOf(c) }));
  }
  const built = await build(c, file);
  return send(c, storedRepresentation(c, built, headers));
}

async function build(c: ApiContext, { asset, note, beforeBuild }: AskedFile): Promise<ReadyAsset> {
  const signal = clientSignal(c.env.outgoing);
  await beforeBuild(signal);
  const built = await c.var.services.assets.ensure(asset, { requestId: requestIdOf(c), signal });
  await note(asset);
  return built;
}

/** A checksum or signature of the file, under the file's name for this answer. */
export async function answerAbout(
  c: ApiContext,
  file: AskedFile,
  { suffix, contentType, body }: About,
  name: string,
): Promise<Response> {
  const { assets } = c.var.services;
  const headers = {
    ...file.headers,
    ...{ "Content-Type": contentType, "Content-Disposition": attachment(name + suffix) },
  };
  const inline = assets.inline(file.asset);
  const ready = inline ? null : await assets.findReady(file.asset.assetKey);
  if (inline || ready) await file.note(file.asset);
  else if (c.req.method === "HEAD") return absent(headers);
  const asset = inline ? null : (ready ?? (await build(c, file)));
  const digest = (algorithm: "sha256" | "sha512") =>
    asset?.[algorithm] ??
    createHash(algorithm)
      .update(inline ?? "")
      .digest("hex");
  return send(c, bytesRepresentation(Buffer.from(body(digest, name)), headers));
}
