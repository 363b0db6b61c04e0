/** /api/v1/sources: where own extensions and overlays come from, registries and uploads. */
import { createRoute, z } from "@hono/zod-openapi";
import { parseOwnSource } from "../lib/domain/own-sources.ts";
import { clientSignal } from "../lib/http/send-bytes.ts";
import { type Api, answer, createApi } from "./create-api.ts";
import {
  allowedToChange,
  CHANGING,
  fetching,
  looseJson,
  OWN_BODY,
  OWN_TAG,
  oversized,
  ownId,
  readAdopt,
  refusals,
} from "./own-conventions.ts";
import { json, problem } from "./replies.ts";
import { readJson } from "./request-body.ts";

const source = { description: "The source with its images, newest first", content: looseJson };

const list = createRoute({
  ...OWN_TAG,
  method: "get",
  path: "/api/v1/sources",
  summary: "Own sources and their images",
  responses: {
    200: {
      description: "All sources; `mode` says who may change them",
      content: {
        "application/json": {
          schema: z.object({ mode: z.string(), sources: z.array(z.object({}).loose()) }),
        },
      },
    },
  },
});

const add = createRoute({
  ...OWN_TAG,
  method: "post",
  path: "/api/v1/sources",
  summary: "Add a catalog or an image in a registry",
  description: `JSON: kind (catalog, image), subject (extension, overlay), namespace, name, reference, trust, override. What is there now is fetched, checked and offered. ${CHANGING}`,
  responses: {
    201: source,
    ...refusals,
    ...fetching,
  },
});

const get = createRoute({
  ...OWN_TAG,
  method: "get",
  path: "/api/v1/sources/{id}",
  summary: "One source",
  request: { params: ownId },
  responses: { 200: source, 404: problem("No such source") },
});

const look = createRoute({
  ...OWN_TAG,
  method: "post",
  path: "/api/v1/sources/{id}/look",
  summary: "Fetch, check and offer what is new at a source",
  description: `Nothing in use is moved. ${CHANGING}`,
  request: { params: ownId },
  responses: {
    200: source,
    ...refusals,
    ...fetching,
  },
});

const adoptAll = createRoute({
  ...OWN_TAG,
  method: "post",
  path: "/api/v1/sources/{id}/adopt",
  summary: "Adopt everything that a source offers",
  description: `JSON: acceptWarnings. Images that may not be adopted stay on offer. ${CHANGING}`,
  request: { params: ownId },
  responses: { 200: source, ...refusals, ...oversized },
});

const usage = createRoute({
  ...OWN_TAG,
  method: "get",
  path: "/api/v1/sources/{id}/usage",
  summary: "Schematics that name something of a source",
  request: { params: ownId },
  responses: {
    200: { description: "IDs; those that open a configuration are only counted", content: looseJson },
    404: problem("No such source"),
  },
});

const remove = createRoute({
  ...OWN_TAG,
  method: "delete",
  path: "/api/v1/sources/{id}",
  summary: "Forget a source",
  description: `Its images stay for files and locks that need them; releases do not get them any more. The reply names the schematics that used it. ${CHANGING}`,
  request: { params: ownId },
  responses: { 200: { description: "Who used it", content: looseJson }, ...refusals },
});

export function sourceRoutes(): Api {
  const app = createApi();
  answer(app, list, async (c) => {
    const { own } = c.var.services;
    return json(c, { mode: own.access.mode, sources: await own.list() });
  });
  answer(app, add, async (c) => {
    const own = allowedToChange(c);
    const made = await own.add(parseOwnSource(await readJson(c, OWN_BODY)), clientSignal(c.env.outgoing));
    return json(c, made, 201, { Location: `/api/v1/sources/${made.id}` });
  });
  answer(app, get, async (c) => json(c, await c.var.services.own.require(c.req.valid("param").id)));
  answer(app, look, async (c) => {
    const own = allowedToChange(c);
    return json(c, await own.look(c.req.valid("param").id, clientSignal(c.env.outgoing)));
  });
  answer(app, adoptAll, async (c) => {
    const own = allowedToChange(c);
    return json(c, await own.adoptAll(c.req.valid("param").id, await readAdopt(c)));
  });
  answer(app, usage, async (c) => json(c, await c.var.services.own.usage(c.req.valid("param").id)));
  answer(app, remove, async (c) => json(c, await allowedToChange(c).remove(c.req.valid("param").id)));
  return app;
}
