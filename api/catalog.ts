/** GET /api/v1/catalog…: extensions and overlays over all releases, and what is inside their images. */
import { createRoute, z } from "@hono/zod-openapi";
import { ARCHES } from "../lib/domain/asset.ts";
import type { CatalogEntry, EntryKind } from "../lib/domain/catalog/catalog-index.ts";
import {
  CATALOG_LISTS,
  nameOfSegments,
  readCatalogQuery,
  selectEntries,
  versionFor,
} from "../lib/domain/catalog/catalog-query.ts";
import { quoteText } from "../lib/domain/quote.ts";
import { versionTag } from "../lib/domain/versions.ts";
import { notFound } from "../lib/errors/app-error.ts";
import { clientSignal } from "../lib/http/send-bytes.ts";
import { type Api, type ApiContext, answer, createApi } from "./create-api.ts";
import { json, problem } from "./replies.ts";

const entry = z.object({
  kind: z.enum(["extension", "overlay"]),
  name: z.string(),
  title: z.string(),
  namespace: z.string(),
  author: z.string(),
  description: z.string(),
  tier: z.string(),
  formerNames: z.array(z.string()),
  versions: z.array(
    z.object({
      talos: z.string(),
      version: z.string(),
      ref: z.string(),
      repository: z.string(),
      digest: z.string(),
    }),
  ),
});
const contents = z.object({
  name: z.string(),
  talos: z.string(),
  arch: z.enum(ARCHES),
  digest: z.string(),
  compressedBytes: z.number(),
  unpackedBytes: z.number(),
  fileCount: z.number(),
  files: z.array(z.object({ path: z.string(), sizeBytes: z.number(), target: z.string().nullable() })),
  manifest: z.object({}).loose().nullable(),
});

const body = (schema: z.ZodType, description: string) => ({
  200: { description, content: { "application/json": { schema } } },
});
const missing = { 404: problem("No known release has it") };
const which = z.object({ talos: z.string().optional(), arch: z.enum(ARCHES).default("amd64") });
const extension = z.object({ namespace: z.string(), name: z.string() });
const overlay = z.object({ name: z.string() });

const list = createRoute({
  method: "get",
  path: "/api/v1/catalog",
  tags: ["catalog"],
  summary: "Extensions or overlays over all releases, found by name or purpose",
  description:
    "Releases whose catalogs were not read yet stand under unread; they are read in the background, newest first.",
  request: {
    query: z.object({
      list: z.enum(CATALOG_LISTS).optional(),
      q: z.string().optional(),
      talos: z.string().optional(),
      sort: z.string().optional(),
    }),
  },
  responses: body(
    z.object({ releases: z.array(z.string()), unread: z.array(z.string()), entries: z.array(entry) }),
    "Entries in the asked order, each with its releases, newest first",
  ),
});

const describe = (path: string, params: z.ZodObject, summary: string) =>
  createRoute({
    method: "get",
    path,
    tags: ["catalog"],
    summary,
    request: { params },
    responses: { ...body(entry, "The entry"), ...missing },
  });

const look = (path: string, params: z.ZodObject, summary: string) =>
  createRoute({
    method: "get",
    path,
    tags: ["catalog"],
    summary,
    description:
      "The image is fetched and unpacked when nobody asked for it before. Without talos the newest release that has it. At most 2,000 files are named; fileCount counts all.",
    request: { params, query: which },
    responses: { ...body(contents, "Sizes, files and the manifest"), ...missing },
  });

const EXTENSION = "/api/v1/catalog/extensions/{namespace}/{name}";
const OVERLAY = "/api/v1/catalog/overlays/{name}";
const extensionRoute = describe(EXTENSION, extension, "An extension: its versions and digests by release");
const overlayRoute = describe(OVERLAY, overlay, "A board overlay: its versions and digests by release");
const extensionFiles = look(`${EXTENSION}/files`, extension, "What is inside the image of an extension");
const overlayFiles = look(`${OVERLAY}/files`, overlay, "What is inside the image of a board overlay");

async function requireEntry(c: ApiContext, kind: EntryKind, name: string): Promise<CatalogEntry> {
  const found = await c.var.services.catalog.find(kind, name);
  if (found !== null) return found;
  throw notFound(`no known release has the ${kind} ${quoteText(name)}`, {
    hint: "GET /api/v1/catalog lists what there is.",
  });
}

async function answerContents(
  c: ApiContext,
  found: CatalogEntry,
  { talos, arch }: z.infer<typeof which>,
): Promise<Response> {
  const tag = talos === undefined ? "" : versionTag(talos);
  const image = versionFor(found, tag);
  if (image === undefined) {
    throw notFound(`Talos ${tag} has no ${found.kind} ${quoteText(found.name)}`, {
      hint: `It is in ${found.versions.map((version) => version.talos).join(", ")}.`,
    });
  }
  const read = await c.var.services.catalog.readContents(image, arch, clientSignal(c.env.outgoing));
  return json(c, { name: found.name, talos: image.talos, arch, digest: image.digest, ...read });
}

export function catalogRoutes(): Api {
  const app = createApi();
  answer(app, list, async (c) => {
    const { entries, ...index } = await c.var.services.catalog.index();
    const query = readCatalogQuery(new URL(c.req.url).searchParams);
    return json(c, { ...index, entries: selectEntries({ ...index, entries }, query) });
  });
  answer(app, extensionRoute, async (c) => {
    const { namespace, name } = extension.parse(c.req.valid("param"));
    return json(c, await requireEntry(c, "extension", nameOfSegments(namespace, name)));
  });
  answer(app, overlayRoute, async (c) =>
    json(c, await requireEntry(c, "overlay", overlay.parse(c.req.valid("param")).name)),
  );
  answer(app, extensionFiles, async (c) => {
    const { namespace, name } = extension.parse(c.req.valid("param"));
    const found = await requireEntry(c, "extension", nameOfSegments(namespace, name));
    return answerContents(c, found, c.req.valid("query"));
  });
  answer(app, overlayFiles, async (c) => {
    const found = await requireEntry(c, "overlay", overlay.parse(c.req.valid("param")).name);
    return answerContents(c, found, c.req.valid("query"));
  });
  return app;
}
