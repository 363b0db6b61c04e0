/** GET /api/v1/models/:schematic/:version/lock: every source image that a schematic and version are made from. */
import { createRoute, z } from "@hono/zod-openapi";
import { modelLockSchema } from "../lib/domain/model-lock.ts";
import { type Api, answer, createApi } from "./create-api.ts";
import { json, problem } from "./replies.ts";

const lock = createRoute({
  method: "get",
  path: "/api/v1/models/{schematic}/{version}/lock",
  tags: ["evidence"],
  summary: "The inputs of a schematic and version, by digest",
  request: { params: z.object({ schematic: z.string(), version: z.string() }) },
  responses: {
    200: {
      description: "Source images in the order they are applied, and what else decides bytes here",
      content: {
        "application/json": {
          schema: modelLockSchema,
        },
      },
    },
    404: problem("Unknown schematic or version"),
  },
});

export function modelRoutes(): Api {
  const app = createApi();
  answer(app, lock, async (c) => {
    const { schematic, version } = c.req.valid("param");
    return json(c, await c.var.services.locks.lock(schematic, version));
  });
  return app;
}
