/** GET /api/v1/status: queue, workers, store, source and reuse, as the page of the same name shows them. */
import { createRoute, z } from "@hono/zod-openapi";
import type { FactoryStatus } from "../lib/services/status/contracts.ts";
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

/** What everybody may read: reasons are words of drivers, and they and workers would name hosts and folders. */
export function openStatus({ checks, workers, ...rest }: FactoryStatus) {
  return {
    checks: checks.map(({ name, ok, hint }) => ({ name, ok, hint })),
    workers: workers?.map(({ slots, running }) => ({ slots, running })) ?? null,
    ...rest,
  };
}

export function statusRoutes(): Api {
  const app = createApi();
  answer(app, status, async (c) => {
    const shown = openStatus(await c.var.services.status.read());
    return json(c, shown, 200, { "Cache-Control": "no-store" });
  });
  return app;
}
