/** GET /api/v1/status: queue, workers, store, source and reuse, as the page of the same name shows them. */
import { createRoute, z } from "@hono/zod-openapi";
import { type Api, answer, createApi } from "./create-api.ts";
import { json } from "./replies.ts";

const status = createRoute({
  method: "get",
  path: "/api/v1/status",
  tags: ["health"],
  summary: "How the factory does: queue, workers, store, source, reuse",
  responses: {
    200: {
      description: "What is known now; parts that do not answer are null",
      content: { "application/json": { schema: z.object({}).loose() } },
    },
  },
});

export function statusRoutes(): Api {
  const app = createApi();
  answer(app, status, async (c) => {
    const { checks, ...rest } = await c.var.services.status.read();
    // Reasons are words of drivers and may name hosts and folders.
    const shown = checks.map(({ name, ok, hint }) => ({ name, ok, hint }));
    return json(c, { checks: shown, ...rest }, 200, { "Cache-Control": "no-store" });
  });
  return app;
}
