/** /api/v1/extensions: uploads of own extensions, and what becomes of each image. */
import { createRoute, z } from "@hono/zod-openapi";
import { ARCHES } from "../lib/domain/asset.ts";
import { clientSignal } from "../lib/http/send-bytes.ts";
import { type Api, answer, createApi, requestIdOf } from "./create-api.ts";
import {
  allowedToChange,
  CHANGING,
  looseJson,
  OWN_TAG,
  oversized,
  ownId,
  readAdopt,
  refusals,
} from "./own-conventions.ts";
import { json, problem } from "./replies.ts";

const pin = { description: "The image with the reports of its checks", content: looseJson };

const adopt = createRoute({
  ...OWN_TAG,
  method: "post",
  path: "/api/v1/extensions/pins/{id}/adopt",
  summary: "Use this image from now on",
  description: `JSON: talos (a version range, empty for all), acceptWarnings. What was adopted for the same name and range is retired. ${CHANGING}`,
  request: { params: ownId },
  responses: { 200: pin, ...refusals, ...oversized },
});

const retire = createRoute({
  ...OWN_TAG,
  method: "post",
  path: "/api/v1/extensions/pins/{id}/retire",
  summary: "Stop using this image",
  description: CHANGING,
  request: { params: ownId },
  responses: { 200: pin, ...refusals },
});

const check = createRoute({
  ...OWN_TAG,
  method: "get",
  path: "/api/v1/extensions/pins/{id}/check",
  summary: "Check an image against a release",
  description: CHANGING,
  request: { params: ownId, query: z.object({ talos: z.string().max(60) }) },
  responses: {
    200: { description: "One report for each platform", content: looseJson },
    ...refusals,
  },
});

const test = {
  description: "The test: its state, and the console of the machine once it has ended",
  content: looseJson,
};

const bootTest = createRoute({
  ...OWN_TAG,
  method: "post",
  path: "/api/v1/extensions/pins/{id}/boot-test",
  summary: "Boot an adopted extension in a virtual machine",
  description: `A worker builds metal-amd64.iso of the newest release that gets the image, and boots it in QEMU. ${CHANGING}`,
  request: { params: ownId },
  responses: { 202: test, ...refusals },
});

const lastBootTest = createRoute({
  ...OWN_TAG,
  method: "get",
  path: "/api/v1/extensions/pins/{id}/boot-test",
  summary: "The last boot test of an image",
  request: { params: ownId },
  responses: { 200: test, 404: problem("No such image, or it was never booted") },
});

const upload = createRoute({
  ...OWN_TAG,
  method: "put",
  path: "/api/v1/extensions/{namespace}/{name}",
  summary: "Upload an extension",
  description: `The body is a tar, tar.gz or tar.zst with manifest.yaml and rootfs, as \`curl -T\` sends it. It is adopted when its checks have nothing to say, or with \`accept-warnings=true\`; else it is offered. ${CHANGING}`,
  request: {
    params: z.object({ namespace: z.string(), name: z.string() }),
    query: z.object({
      talos: z.string().max(200).optional(),
      arch: z.enum(ARCHES).optional(),
      override: z.enum(["true", "false"]).optional(),
      "accept-warnings": z.enum(["true", "false"]).optional(),
    }),
  },
  responses: {
    201: pin,
    ...refusals,
    413: problem("The archive is larger than it may be"),
    507: problem("Own extensions take all the room they may take"),
  },
});

const sizeOf = (header: string | undefined): number | null =>
  header === undefined ? null : Number.parseInt(header, 10);

export function ownExtensionRoutes(): Api {
  const app = createApi();
  answer(app, adopt, async (c) => {
    const own = allowedToChange(c);
    return json(c, await own.adopt(c.req.valid("param").id, await readAdopt(c)));
  });
  answer(app, retire, async (c) => json(c, await allowedToChange(c).retire(c.req.valid("param").id)));
  answer(app, check, async (c) => {
    const { talos } = c.req.valid("query");
    const own = allowedToChange(c);
    return json(c, {
      reports: await own.check(c.req.valid("param").id, talos, clientSignal(c.env.outgoing)),
    });
  });
  answer(app, bootTest, async (c) => {
    allowedToChange(c);
    const made = await c.var.services.bootTests.request(c.req.valid("param").id, requestIdOf(c));
    return json(c, made, 202);
  });
  answer(app, lastBootTest, async (c) =>
    json(c, await c.var.services.bootTests.last(c.req.valid("param").id)),
  );
  answer(app, upload, async (c) => {
    const own = allowedToChange(c);
    const { talos, arch, override, "accept-warnings": accept } = c.req.valid("query");
    const made = await own.upload({
      ...c.req.valid("param"),
      body: c.env.incoming,
      sizeBytes: sizeOf(c.req.header("content-length")),
      ...(talos === undefined ? {} : { talos }),
      ...(arch === undefined ? {} : { arch }),
      override: override === "true",
      acceptWarnings: accept === "true",
      signal: clientSignal(c.env.outgoing),
    });
    return json(c, made, 201, { Location: `/api/v1/sources/${made.sourceId}` });
  });
  return app;
}
