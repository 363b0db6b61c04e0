/** POST /schematics and GET /schematics/:schematic: store a choice, read it back. */
import { createRoute, z } from "@hono/zod-openapi";
import { decodeSchematicText } from "../lib/domain/schematic-parse.ts";
import { notFound } from "../lib/errors/app-error.ts";
import { forbidReading } from "../lib/http/cross-origin.ts";
import { type Api, answer, createApi } from "./create-api.ts";
import { goJson, reply, sentence } from "./replies.ts";
import { readBody } from "./request-body.ts";

const SCHEMATIC_BODY = {
  limitBytes: 1024 * 1024,
  hint: "A schematic is a few kilobytes; send only the schematic document",
};

const create = createRoute({
  method: "post",
  path: "/schematics",
  tags: ["schematics"],
  summary: "Store a schematic and get its ID",
  description:
    "The body is the schematic as YAML or JSON; the content type is ignored. Posting the same choice again gives the same ID.",
  responses: {
    201: {
      description: "The ID and the canonical text",
      content: {
        "application/json": { schema: z.object({ id: z.string().length(64), schematic: z.string() }) },
      },
    },
    400: sentence("What is wrong with the document, in the decoder's words"),
    413: sentence("Larger than 1 MiB"),
  },
});

const get = createRoute({
  method: "get",
  path: "/schematics/{schematic}",
  tags: ["schematics"],
  summary: "Get the canonical text of a schematic",
  request: { params: z.object({ schematic: z.string() }) },
  responses: {
    200: { description: "Canonical YAML", content: { "application/yaml": { schema: z.string() } } },
    404: sentence("No such schematic"),
  },
});

export function schematicRoutes(): Api {
  const app = createApi();
  answer(app, create, async (c) => {
    const stored = await c.var.services.schematics.create(
      decodeSchematicText(await readBody(c, SCHEMATIC_BODY)),
    );
    return reply(c, goJson({ id: stored.id, schematic: stored.canonical }), "application/json", 201);
  });
  answer(app, get, async (c) => {
    const stored = await c.var.services.schematics.find(c.req.valid("param").schematic);
    if (!stored)
      throw notFound("schematic not found", {
        hint: "Post the schematic first; its ID is the hash of its text",
      });
    // The configuration holds secrets: a page of another site that got hold of the ID must not read them.
    if (stored.schematic.customization.embeddedMachineConfiguration !== undefined)
      forbidReading(c.env.outgoing);
    return reply(c, stored.canonical, "application/yaml");
  });
  return app;
}
