/** /api/v1/presets: choices that are kept under a name. */
import { createRoute, z } from "@hono/zod-openapi";
import { type Preset, parsePresetInput, presetInputSchema, presetQuery } from "../lib/domain/preset.ts";
import { attachment } from "../lib/http/disposition.ts";
import { type Api, type ApiContext, answer, createApi } from "./create-api.ts";
import { json, problem, reply } from "./replies.ts";
import { readJson, readText } from "./request-body.ts";

const YAML = "application/yaml";

const params = z.object({ id: z.string().uuid() });
const presetSchema = presetInputSchema
  .extend({
    id: z.string(),
    createdAt: z.string(),
    updatedAt: z.string(),
    links: z.record(z.string(), z.string()),
  })
  .openapi("Preset");
const content = <T extends z.ZodType>(schema: T) => ({ "application/json": { schema } });
const one = { description: "The preset", content: content(presetSchema) };
const common = { tags: ["presets"] };
const missing = { 404: problem("No such preset") };
const refused = {
  400: problem(
    "A field that is not valid, a schematic that is not stored here or that holds a configuration",
  ),
  409: problem("Another preset has the name, or there are as many as there may be"),
  413: problem("The body is larger than 1 MiB"),
};

const list = createRoute({
  ...common,
  method: "get",
  path: "/api/v1/presets",
  summary: "Presets by name",
  description: "`label` is the name of a label, or name=value.",
  request: { query: z.object({ label: z.string().max(130).optional() }) },
  responses: {
    200: { description: "All that match", content: content(z.object({ presets: z.array(presetSchema) })) },
  },
});

const create = createRoute({
  ...common,
  method: "post",
  path: "/api/v1/presets",
  summary: "Keep a choice under a name",
  description:
    "JSON naming a stored schematic, or the YAML that an export gave (`Content-Type: application/yaml`).",
  responses: { 201: one, ...refused },
});

const get = createRoute({
  ...common,
  method: "get",
  path: "/api/v1/presets/{id}",
  summary: "One preset",
  request: { params },
  responses: { 200: one, ...missing },
});

const replace = createRoute({
  ...common,
  method: "put",
  path: "/api/v1/presets/{id}",
  summary: "Change a preset",
  request: { params },
  responses: { 200: one, ...refused, ...missing },
});

const remove = createRoute({
  ...common,
  method: "delete",
  path: "/api/v1/presets/{id}",
  summary: "Forget a preset; its schematic stays",
  request: { params },
  responses: { 204: { description: "Gone" }, ...missing },
});

const exported = createRoute({
  ...common,
  method: "get",
  path: "/api/v1/presets/{id}/export",
  summary: "A preset as a document, with the text of its schematic",
  request: { params },
  responses: { 200: { description: "YAML", content: { [YAML]: { schema: z.string() } } }, ...missing },
});

const presetJson = (preset: Preset) => {
  const { id, name, labels, schematicId, target, createdAt, updatedAt } = preset;
  const query = presetQuery(preset).toString();
  return {
    ...{ id, name, labels, schematic: schematicId, ...target, createdAt, updatedAt },
    links: {
      self: `/api/v1/presets/${id}`,
      export: `/api/v1/presets/${id}/export`,
      page: `/schematics/${schematicId}${query === "" ? "" : `?${query}`}`,
    },
  };
};

const INPUT = {
  limitBytes: 1024 * 1024,
  hint: 'Send {"name": "Lab", "schematic": "<id>"}, or an exported preset as application/yaml.',
};

export function presetRoutes(): Api {
  const app = createApi();
  const presets = (c: ApiContext) => c.var.services.presets;
  answer(app, list, async (c) => {
    const found = await presets(c).list(c.req.valid("query").label);
    return json(c, { presets: found.map(presetJson) });
  });
  answer(app, create, async (c) => {
    const yaml = /ya?ml/i.test(c.req.header("content-type") ?? "");
    const made = yaml
      ? await presets(c).restore(await readText(c, INPUT))
      : await presets(c).create(parsePresetInput(await readJson(c, INPUT)));
    return json(c, presetJson(made), 201, { Location: `/api/v1/presets/${made.id}` });
  });
  answer(app, get, async (c) => json(c, presetJson(await presets(c).require(c.req.valid("param").id))));
  answer(app, replace, async (c) => {
    const input = parsePresetInput(await readJson(c, INPUT));
    return json(c, presetJson(await presets(c).replace(c.req.valid("param").id, input)));
  });
  answer(app, remove, async (c) => {
    await presets(c).remove(c.req.valid("param").id);
    return new Response(null, { status: 204 });
  });
  answer(app, exported, async (c) => {
    const { name, text } = await presets(c).document(c.req.valid("param").id);
    const file = `${
      name
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, "-")
        .replace(/^-|-$/g, "") || "preset"
    }.yaml`;
    return reply(c, text, YAML, 200, { "Content-Disposition": attachment(file) });
  });
  return app;
}
