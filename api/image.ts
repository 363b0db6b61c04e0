/** GET|HEAD /image/:schematic/:version/:path: one file of one schematic, built when needed, its checksums and signature. */
import { createRoute, z } from "@hono/zod-openapi";
import { splitSidecar } from "../lib/domain/asset-path.ts";
import { invalidInput, notFound } from "../lib/errors/app-error.ts";
import { attachment, safeFileName } from "../lib/http/disposition.ts";
import type { ResolvedAsset } from "../lib/services/contracts.ts";
import { type Api, type ApiContext, answer, createApi } from "./create-api.ts";
import { aboutOf, answerAbout, answerFile, assetHeaders } from "./file-answer.ts";
import { bytesRepresentation, send, sentence, TEXT } from "./replies.ts";

const route = createRoute({
  method: "get",
  path: "/image/{schematic}/{version}/{path}",
  tags: ["images"],
  summary: "Download one file of a schematic",
  description:
    "Builds the file when nobody asked for it before. Append .sha256 or .sha512 for its checksum, .sigstore.json for its signature; SHA256SUMS lists the checksums of all files that are ready. HEAD never builds. `Prefer: respond-async` or `?async=1` answers 202 with the address of the build.",
  request: {
    params: z.object({ schematic: z.string(), version: z.string(), path: z.string() }),
    query: z.object({ filename: z.string().optional(), async: z.string().optional() }),
  },
  responses: {
    200: { description: "The file", content: { "application/octet-stream": { schema: z.string() } } },
    202: { description: "The build was started; Location names it" },
    206: { description: "The range that was asked for" },
    400: sentence("The path, the version or the schematic does not allow this file"),
    404: sentence("Unknown schematic or version"),
    501: sentence(
      "Neither the release nor this factory has GRUB for the file; the hint names the Debian package",
    ),
    503: sentence("The source registry is away; Retry-After tells when to come back"),
  },
});

/** Name of the list of checksums, as sha256sum -c takes it. */
const SUMS = "SHA256SUMS";

async function answerSums(c: ApiContext, schematic: string, version: string): Promise<Response> {
  const sums = Buffer.from(await c.var.services.checksums.sums(schematic, version));
  const headers = { "Content-Type": TEXT, "Content-Disposition": attachment(SUMS) };
  return send(c, bytesRepresentation(sums, { ...headers, "Cache-Control": "no-cache" }));
}

function refuseHostileNames(params: Record<string, string>): void {
  for (const [name, value] of Object.entries(params)) {
    if (value.includes("/")) throw notFound("404 page not found");
    if (value.length > 1024) throw invalidInput(`The ${name} in the path is longer than 1024 characters`);
  }
}

export function imageRoutes(): Api {
  const app = createApi();
  answer(app, route, async (c) => {
    const params = c.req.valid("param");
    refuseHostileNames(params);
    if (params.path === SUMS) return answerSums(c, params.schematic, params.version);
    const { path, sidecar } = splitSidecar(params.path);
    const resolved = await c.var.services.assets.resolve({
      schematicId: params.schematic,
      version: params.version,
      path,
    });
    const filename = c.req.query("filename");
    // The name goes into the text of a checksum, where a line break would begin another checksum.
    const name = filename ? safeFileName(filename) : path;
    const file = {
      asset: resolved,
      headers: assetHeaders(path, filename),
      note: (served: ResolvedAsset) => c.var.services.checksums.note(served),
      beforeBuild: () => Promise.resolve(),
    };
    if (sidecar !== null) return answerAbout(c, file, aboutOf(c, sidecar), name);
    return answerFile(c, file);
  });
  return app;
}
