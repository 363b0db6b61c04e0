/** GET /api/v1/releases: the releases of the source with their state, and how the source itself is doing. */
import { createRoute, z } from "@hono/zod-openapi";
import { type Api, answer, createApi } from "./create-api.ts";
import { json } from "./replies.ts";

const route = createRoute({
  method: "get",
  path: "/api/v1/releases",
  tags: ["catalog"],
  summary: "Releases of the source, newest first, with what is missing in incomplete ones",
  responses: {
    200: {
      description: "Source status and releases",
      content: { "application/json": { schema: z.object({}).loose() } },
    },
  },
});

export function releaseRoutes(): Api {
  const app = createApi();
  answer(app, route, async (c) => {
    const { releases } = c.var.services;
    const summaries = await releases.summaries();
    return json(c, { source: releases.status(), releases: summaries });
  });
  return app;
}
