/** GET /pxe/:schematic/:version/:platarch: the iPXE script of one machine. */
import { createRoute, z } from "@hono/zod-openapi";
import { type Api, answer, createApi } from "./create-api.ts";
import { reply, sentence, TEXT } from "./replies.ts";

const route = createRoute({
  method: "get",
  path: "/pxe/{schematic}/{version}/{platarch}",
  tags: ["boot"],
  summary: "iPXE script that boots this schematic",
  description:
    "Chain to it from iPXE, for example `chain --replace --autofree <factory>/pxe/<id>/<version>/metal-amd64`.",
  request: { params: z.object({ schematic: z.string(), version: z.string(), platarch: z.string() }) },
  responses: {
    200: { description: "The script", content: { "text/plain": { schema: z.string() } } },
    400: sentence("The last segment or the version is malformed"),
    404: sentence("Unknown schematic or version"),
  },
});

export function pxeRoutes(): Api {
  const app = createApi();
  answer(app, route, async (c) => {
    const { schematic, version, platarch } = c.req.valid("param");
    return reply(c, await c.var.services.pxe.script({ schematicId: schematic, version, platarch }), TEXT);
  });
  return app;
}
