/** GET|HEAD /spdx/:schematic/:version/:arch and /api/v1/models/…/sbom/:arch: bills of materials, SPDX or CycloneDX. */
import { createRoute, z } from "@hono/zod-openapi";
import { CYCLONEDX_MEDIA_TYPE } from "../lib/formats/sbom/cyclonedx.ts";
import { attachment } from "../lib/http/disposition.ts";
import { clientSignal } from "../lib/http/send-bytes.ts";
import { type Api, type ApiContext, answer, createApi } from "./create-api.ts";
import { bytesRepresentation, problem, send, sentence } from "./replies.ts";

const SPDX_MEDIA_TYPE = "application/spdx+json";
const CYCLONEDX_SUFFIX = ".cdx.json";
/** First release whose source brings bills of materials; older ones are refused as on the public service. */
const SINCE = "1.11.0";

const params = z.object({ schematic: z.string(), version: z.string(), arch: z.string() });
const document = {
  description: "SPDX 2.3, or CycloneDX 1.6 where that is preferred",
  content: {
    [SPDX_MEDIA_TYPE]: { schema: z.object({}).loose() },
    [CYCLONEDX_MEDIA_TYPE]: { schema: z.object({}).loose() },
  },
};
const NOT_ALLOWED = "The version, the architecture or the schematic does not allow it";
const UNKNOWN = "Unknown schematic or version";

const compatible = createRoute({
  method: "get",
  path: "/spdx/{schematic}/{version}/{arch}",
  tags: ["evidence"],
  summary: "Bill of materials of a schematic",
  description:
    "SPDX 2.3 merged from what the release and the extensions say of themselves. CycloneDX 1.6 when Accept prefers it or the architecture ends in .cdx.json.",
  request: { params },
  responses: { 200: document, 400: sentence(NOT_ALLOWED), 404: sentence(UNKNOWN) },
});

const anyVersion = createRoute({
  method: "get",
  path: "/api/v1/models/{schematic}/{version}/sbom/{arch}",
  tags: ["evidence"],
  summary: "Bill of materials of a schematic, for every version",
  description:
    "As /spdx, also for releases that bring no bill of materials: records are then made from package data, and say so.",
  request: { params },
  responses: { 200: document, 400: problem(NOT_ALLOWED), 404: problem(UNKNOWN) },
});

/** Weight of a media type in an Accept header (RFC 9110 §12.5.1), when it is named; zero else. */
function weightOf(accept: string, mediaType: string): number {
  for (const range of accept.split(",")) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    if (type !== mediaType) continue;
    const q = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
    return /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(q) ? Number(q) : 1;
  }
  return 0;
}

function formatOf(c: ApiContext, arch: string): "spdx" | "cyclonedx" {
  if (arch.endsWith(CYCLONEDX_SUFFIX)) return "cyclonedx";
  const accept = c.req.header("accept") ?? "";
  const wanted = weightOf(accept, CYCLONEDX_MEDIA_TYPE);
  return wanted > 0 && wanted > weightOf(accept, SPDX_MEDIA_TYPE) ? "cyclonedx" : "spdx";
}

async function answerSbom(
  c: ApiContext,
  given: z.infer<typeof params>,
  minimum: string | null,
): Promise<Response> {
  const { schematic, version } = given;
  const format = formatOf(c, given.arch);
  const arch = given.arch.endsWith(CYCLONEDX_SUFFIX)
    ? given.arch.slice(0, -CYCLONEDX_SUFFIX.length)
    : given.arch;
  const document = await c.var.services.sboms.document(
    { schematicId: schematic, version, arch, format },
    { signal: clientSignal(c.env.outgoing), ...(minimum === null ? {} : { minimum }) },
  );
  const suffix = format === "spdx" ? ".spdx.json" : CYCLONEDX_SUFFIX;
  const headers = {
    "Content-Type": format === "spdx" ? SPDX_MEDIA_TYPE : CYCLONEDX_MEDIA_TYPE,
    "Content-Disposition": attachment(`${schematic}-${document.version}-${document.arch}${suffix}`),
    Vary: "Origin, Accept",
  };
  return send(c, bytesRepresentation(document.bytes, headers));
}

export function sbomRoutes(): Api {
  const app = createApi();
  answer(app, compatible, (c) => answerSbom(c, c.req.valid("param"), SINCE));
  answer(app, anyVersion, (c) => answerSbom(c, c.req.valid("param"), null));
  return app;
}
