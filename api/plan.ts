/** GET /api/v1/plan/:schematic/:version/:path: what would be done to make a file, without doing it. */
import { createRoute, z } from "@hono/zod-openapi";
import { assetJson } from "./asset-json.ts";
import { type Api, answer, createApi } from "./create-api.ts";
import { json, problem } from "./replies.ts";

const route = createRoute({
  method: "get",
  path: "/api/v1/plan/{schematic}/{version}/{path}",
  tags: ["images"],
  summary: "The build plan of a file: inputs by digest, steps with their content keys",
  request: { params: z.object({ schematic: z.string(), version: z.string(), path: z.string() }) },
  responses: {
    200: {
      description: "The plan, secrets left out",
      content: { "application/json": { schema: z.object({}).loose() } },
    },
    400: problem("The path, the version or the schematic does not allow this file"),
    404: problem("Unknown schematic or version"),
  },
});

export function planRoutes(): Api {
  const app = createApi();
  answer(app, route, async (c) => {
    const { schematic, version, path } = c.req.valid("param");
    const { assets } = c.var.services;
    const resolved = await assets.resolve({ schematicId: schematic, version, path });
    const ready = await assets.findReady(resolved.assetKey);
    return json(c, {
      assetKey: resolved.assetKey,
      ready: ready && assetJson(ready),
      plan: assets.describe(resolved),
    });
  });
  return app;
}
