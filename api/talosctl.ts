/** GET /talosctl/:version and GET|HEAD /talosctl/:version/:file: the command line tool of a release. */
import { createRoute, z } from "@hono/zod-openapi";
import { attachment } from "../lib/http/disposition.ts";
import { clientSignal } from "../lib/http/send-bytes.ts";
import { type Api, answer, createApi } from "./create-api.ts";
import { goJson, reply, send, sentence } from "./replies.ts";

const missing = { 404: sentence("The version or the file is not available") };

const list = createRoute({
  method: "get",
  path: "/talosctl/{version}",
  tags: ["catalog"],
  summary: "Addresses of the talosctl programs of a version",
  request: { params: z.object({ version: z.string() }) },
  responses: {
    200: {
      description: "Sorted by file name; an empty list below 1.11",
      content: { "application/json": { schema: z.array(z.string()) } },
    },
    ...missing,
  },
});

const download = createRoute({
  method: "get",
  path: "/talosctl/{version}/{file}",
  tags: ["catalog"],
  summary: "Download talosctl",
  request: { params: z.object({ version: z.string(), file: z.string() }) },
  responses: {
    200: { description: "The program", content: { "application/octet-stream": { schema: z.string() } } },
    ...missing,
  },
});

export function talosctlRoutes(): Api {
  const app = createApi();
  answer(app, list, async (c) => {
    const signal = clientSignal(c.env.outgoing);
    const { version, files } = await c.var.services.talosctl.list(c.req.valid("param").version, signal);
    const urls = files.map(({ name }) => `${c.var.publicUrl}/talosctl/${version}/${name}`);
    return reply(c, goJson(urls), "application/json");
  });
  answer(app, download, async (c) => {
    const { talosctl } = c.var.services;
    const { version, file: name } = c.req.valid("param");
    const file = await talosctl.require(version, name, clientSignal(c.env.outgoing));
    return send(c, {
      sizeBytes: file.sizeBytes,
      etag: `"${file.sha256}"`,
      headers: { "Content-Type": "application/octet-stream", "Content-Disposition": attachment(name) },
      open: (range, signal) => talosctl.open(file, range, signal),
    });
  });
  return app;
}
