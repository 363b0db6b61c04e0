/** GET and HEAD /healthz and /readyz: is the process alive, can it do its work. */
import { createRoute } from "@hono/zod-openapi";
import { type Api, answer, createApi, requestIdOf } from "./create-api.ts";
import { reply, sentence, TEXT } from "./replies.ts";

const healthz = createRoute({
  method: "get",
  path: "/healthz",
  tags: ["health"],
  summary: "Alive",
  responses: { 200: { description: "Always, with an empty body" } },
});

const readyz = createRoute({
  method: "get",
  path: "/readyz",
  tags: ["health"],
  summary: "Able to work: tools, Postgres, Redis, store, source",
  responses: {
    200: { description: "Everything answers; empty body" },
    503: sentence("One line for each thing that does not, with what to do; the log says why"),
  },
});

const empty = () => new Response(null, { status: 200, headers: { "Content-Length": "0" } });

export function healthRoutes(): Api {
  const app = createApi();
  answer(app, healthz, empty);
  answer(app, readyz, async (c) => {
    const broken = (await c.var.services.health.readiness()).filter((check) => !check.ok);
    if (broken.length === 0) return empty();
    const { path } = c.req;
    for (const { name, reason } of broken)
      c.var.onFailure(new Error(`${name}: ${reason}`), { requestId: requestIdOf(c), path });
    return reply(c, `not ready\n${broken.map((b) => `${b.name}: ${b.hint}\n`).join("")}`, TEXT, 503, {
      "Retry-After": "5",
    });
  });
  return app;
}
