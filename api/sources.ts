/** /api/v1/sources and /api/v1/extensions: own extensions and overlays, from registries and uploads. */
import { createRoute, z } from "@hono/zod-openapi";
import { ARCHES } from "../lib/domain/asset.ts";
import { parseOwnSource } from "../lib/domain/own-sources.ts";
import { invalidInput } from "../lib/errors/app-error.ts";
import { clientSignal } from "../lib/http/send-bytes.ts";
import { type Api, type ApiContext, answer, createApi, requestIdOf } from "./create-api.ts";
import { json, problemReply } from "./replies.ts";
import { readJson } from "./request-body.ts";

const MOST_BYTES = 64 * 1024;

const common = { tags: ["own extensions"] };
const id = z.object({ id: z.string().uuid() });
const looseJson = { "application/json": { schema: z.object({}).loose() } };
const source = { description: "The source with its images, newest first", content: looseJson };
const pin = { description: "The image with the reports of its checks", content: looseJson };
const refusals = {
  400: problemReply,
  401: problemReply,
  403: problemReply,
  404: problemReply,
  409: problemReply,
};
const changing = "Needs `Authorization: Bearer <ADMIN_TOKEN>` where OWN_EXTENSIONS is admin.";

const list = createRoute({
  ...common,
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
  ...common,
  method: "post",
  path: "/api/v1/sources",
  summary: "Add a catalog or an image in a registry",
  description: `JSON: kind (catalog, image), subject (extension, overlay), namespace, name, reference, trust, override. What is there now is fetched, checked and offered. ${changing}`,
  responses: {
    201: source,
    ...refusals,
    413: problemReply,
    502: problemReply,
    503: problemReply,
    507: problemReply,
  },
});

const get = createRoute({
  ...common,
  method: "get",
  path: "/api/v1/sources/{id}",
  summary: "One source",
  request: { params: id },
  responses: { 200: source, 404: problemReply },
});

const look = createRoute({
  ...common,
  method: "post",
  path: "/api/v1/sources/{id}/look",
  summary: "Fetch, check and offer what is new at a source",
  description: `Nothing in use is moved. ${changing}`,
  request: { params: id },
  responses: {
    200: source,
    ...refusals,
    413: problemReply,
    502: problemReply,
    503: problemReply,
    507: problemReply,
  },
});

const adoptAll = createRoute({
  ...common,
  method: "post",
  path: "/api/v1/sources/{id}/adopt",
  summary: "Adopt everything that a source offers",
  description: `JSON: acceptWarnings. Images that may not be adopted stay on offer. ${changing}`,
  request: { params: id },
  responses: { 200: source, ...refusals },
});

const usage = createRoute({
  ...common,
  method: "get",
  path: "/api/v1/sources/{id}/usage",
  summary: "Schematics that name something of a source",
  request: { params: id },
  responses: {
    200: { description: "IDs; those that open a configuration are only counted", content: looseJson },
    404: problemReply,
  },
});

const remove = createRoute({
  ...common,
  method: "delete",
  path: "/api/v1/sources/{id}",
  summary: "Forget a source",
  description: `Its images stay for files and locks that need them; releases do not get them any more. The reply names the schematics that used it. ${changing}`,
  request: { params: id },
  responses: { 200: { description: "Who used it", content: looseJson }, ...refusals },
});

const adopt = createRoute({
  ...common,
  method: "post",
  path: "/api/v1/extensions/pins/{id}/adopt",
  summary: "Use this image from now on",
  description: `JSON: talos (a version range, empty for all), acceptWarnings. What was adopted for the same name and range is retired. ${changing}`,
  request: { params: id },
  responses: { 200: pin, ...refusals },
});

const retire = createRoute({
  ...common,
  method: "post",
  path: "/api/v1/extensions/pins/{id}/retire",
  summary: "Stop using this image",
  description: changing,
  request: { params: id },
  responses: { 200: pin, ...refusals },
});

const check = createRoute({
  ...common,
  method: "get",
  path: "/api/v1/extensions/pins/{id}/check",
  summary: "Check an image against a release",
  description: changing,
  request: { params: id, query: z.object({ talos: z.string().max(60) }) },
  responses: {
    200: { description: "One report for each platform", content: looseJson },
    400: problemReply,
    404: problemReply,
  },
});

const test = {
  description: "The test: its state, and the console of the machine once it has ended",
  content: looseJson,
};

const bootTest = createRoute({
  ...common,
  method: "post",
  path: "/api/v1/extensions/pins/{id}/boot-test",
  summary: "Boot an adopted extension in a virtual machine",
  description: `A worker builds metal-amd64.iso of the newest release that gets the image, and boots it in QEMU. ${changing}`,
  request: { params: id },
  responses: { 202: test, ...refusals },
});

const lastBootTest = createRoute({
  ...common,
  method: "get",
  path: "/api/v1/extensions/pins/{id}/boot-test",
  summary: "The last boot test of an image",
  request: { params: id },
  responses: { 200: test, 404: problemReply },
});

const upload = createRoute({
  ...common,
  method: "put",
  path: "/api/v1/extensions/{namespace}/{name}",
  summary: "Upload an extension",
  description: `The body is a tar, tar.gz or tar.zst with manifest.yaml and rootfs, as \`curl -T\` sends it. It is adopted when its checks have nothing to say, or with \`accept-warnings=true\`; else it is offered. ${changing}`,
  request: {
    params: z.object({ namespace: z.string(), name: z.string() }),
    query: z.object({
      talos: z.string().max(200).optional(),
      arch: z.enum(ARCHES).optional(),
      override: z.enum(["true", "false"]).optional(),
      "accept-warnings": z.enum(["true", "false"]).optional(),
    }),
  },
  responses: { 201: pin, ...refusals, 413: problemReply, 507: problemReply },
});

/** The token that a request carries, null for none. */
const tokenOf = (c: ApiContext): string | null =>
  /^Bearer\s+(\S+)$/i.exec(c.req.header("authorization") ?? "")?.[1] ?? null;

const BODY = { limitBytes: MOST_BYTES, hint: "docs/own-extensions.md shows what is sent.", whenEmpty: {} };

const adoptSchema = z.strictObject({
  talos: z.string().max(200).exactOptional(),
  acceptWarnings: z.boolean().exactOptional(),
});

const sizeOf = (header: string | undefined): number | null =>
  header === undefined ? null : Number.parseInt(header, 10);

async function readAdopt(c: ApiContext): Promise<z.output<typeof adoptSchema>> {
  const parsed = adoptSchema.safeParse(await readJson(c, BODY));
  if (parsed.success) return parsed.data;
  throw invalidInput(`The body is not valid: ${parsed.error.issues[0]?.message}`, {
    hint: 'Send {"talos": ">=1.12.0", "acceptWarnings": true}, or nothing.',
  });
}

export function sourceRoutes(): Api {
  const app = createApi();
  const own = (c: ApiContext) => c.var.services.own;
  const allowed = (c: ApiContext) => {
    own(c).access.require(tokenOf(c));
    return own(c);
  };
  const signal = (c: ApiContext) => clientSignal(c.env.outgoing);
  answer(app, list, async (c) => json(c, { mode: own(c).access.mode, sources: await own(c).list() }));
  answer(app, add, async (c) => {
    const service = allowed(c);
    const made = await service.add(parseOwnSource(await readJson(c, BODY)), signal(c));
    return json(c, made, 201, { Location: `/api/v1/sources/${made.id}` });
  });
  answer(app, get, async (c) => json(c, await own(c).require(c.req.valid("param").id)));
  answer(app, look, async (c) => json(c, await allowed(c).look(c.req.valid("param").id, signal(c))));
  answer(app, adoptAll, async (c) => {
    const service = allowed(c);
    return json(c, await service.adoptAll(c.req.valid("param").id, await readAdopt(c)));
  });
  answer(app, usage, async (c) => json(c, await own(c).usage(c.req.valid("param").id)));
  answer(app, remove, async (c) => json(c, await allowed(c).remove(c.req.valid("param").id)));
  answer(app, adopt, async (c) => {
    const service = allowed(c);
    return json(c, await service.adopt(c.req.valid("param").id, await readAdopt(c)));
  });
  answer(app, retire, async (c) => json(c, await allowed(c).retire(c.req.valid("param").id)));
  answer(app, check, async (c) => {
    const { talos } = c.req.valid("query");
    return json(c, { reports: await allowed(c).check(c.req.valid("param").id, talos, signal(c)) });
  });
  answer(app, bootTest, async (c) => {
    allowed(c);
    const made = await c.var.services.bootTests.request(c.req.valid("param").id, requestIdOf(c));
    return json(c, made, 202);
  });
  answer(app, lastBootTest, async (c) =>
    json(c, await c.var.services.bootTests.last(c.req.valid("param").id)),
  );
  answer(app, upload, async (c) => {
    const service = allowed(c);
    const { talos, arch, override, "accept-warnings": accept } = c.req.valid("query");
    const made = await service.upload({
      ...c.req.valid("param"),
      body: c.env.incoming,
      sizeBytes: sizeOf(c.req.header("content-length")),
      ...(talos === undefined ? {} : { talos }),
      ...(arch === undefined ? {} : { arch }),
      override: override === "true",
      acceptWarnings: accept === "true",
      signal: signal(c),
    });
    return json(c, made, 201, { Location: `/api/v1/sources/${made.sourceId}` });
  });
  return app;
}
