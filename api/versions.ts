/** GET /versions and the two catalog lists: what the source offers. Catalogs are kept as bytes between refreshes. */
import { createRoute, z } from "@hono/zod-openapi";
import type { CatalogExtension, CatalogOverlay } from "../lib/domain/release.ts";
import type { Representation } from "../lib/http/send-bytes.ts";
import { type Api, type ApiContext, answer, createApi } from "./create-api.ts";
import { bytesRepresentation, goJson, send, sentence, TEXT } from "./replies.ts";

const version = z.object({ version: z.string() });
/** JSON under the type text/plain, as clients of the dialect know it. */
const jsonAsText = (schema: z.ZodType) => ({ "text/plain": { schema } });
const missing = { 404: sentence("The version is not available") };

const versionsRoute = createRoute({
  method: "get",
  path: "/versions",
  tags: ["catalog"],
  summary: "List the Talos versions, ascending",
  request: { query: z.object({ broken: z.string().optional() }) },
  responses: {
    200: {
      description: "Version tags; with broken=true the broken ones",
      content: jsonAsText(z.array(z.string())),
    },
  },
});

const extensionsRoute = createRoute({
  method: "get",
  path: "/version/{version}/extensions/official",
  tags: ["catalog"],
  summary: "List the system extensions of a version",
  request: { params: version },
  responses: {
    200: {
      description: "In catalog order",
      content: jsonAsText(
        z.array(
          z.object({
            name: z.string(),
            ref: z.string(),
            digest: z.string(),
            author: z.string(),
            description: z.string(),
          }),
        ),
      ),
    },
    ...missing,
  },
});

const overlaysRoute = createRoute({
  method: "get",
  path: "/version/{version}/overlays/official",
  tags: ["catalog"],
  summary: "List the overlays (boards) of a version",
  request: { params: version },
  responses: {
    200: {
      description: "In catalog order; an empty list below 1.7.0",
      content: jsonAsText(
        z.array(z.object({ name: z.string(), image: z.string(), ref: z.string(), digest: z.string() })),
      ),
    },
    ...missing,
  },
});

const encoded = (list: object): Representation =>
  bytesRepresentation(Buffer.from(goJson(list)), { "Content-Type": TEXT });

/**
 * Keeps the encoded answer as long as the service hands out the same list, which it does for the catalog of a release.
 * `shown` gives the fields that clients of the dialect know; what we know besides stays out.
 */
function keptAnswers<T>(shown: (entry: T) => object) {
  const kept = new WeakMap<object, Representation>();
  return (c: ApiContext, list: T[]): Promise<Response> => {
    let representation = kept.get(list);
    if (!representation) {
      representation = encoded(list.map(shown));
      kept.set(list, representation);
    }
    return send(c, representation);
  };
}

const extensionAnswer = ({ name, ref, digest, author, description }: CatalogExtension) => ({
  ...{ name, ref, digest, author, description },
});
const overlayAnswer = ({ name, image, ref, digest }: CatalogOverlay) => ({ name, image, ref, digest });

export function versionRoutes(): Api {
  const app = createApi();
  const extensions = keptAnswers(extensionAnswer);
  const overlays = keptAnswers(overlayAnswer);
  answer(app, versionsRoute, async (c) => {
    const { releases } = c.var.services;
    const list = c.req.query("broken") === "true" ? releases.brokenVersions() : await releases.versions();
    return send(c, encoded(list));
  });
  answer(app, extensionsRoute, async (c) =>
    extensions(c, await c.var.services.releases.extensions(c.req.valid("param").version)),
  );
  answer(app, overlaysRoute, async (c) =>
    overlays(c, await c.var.services.releases.overlays(c.req.valid("param").version)),
  );
  return app;
}
