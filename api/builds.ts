/** /api/v1/builds: see builds, start one, follow it live, cancel it. */
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { createRoute, z } from "@hono/zod-openapi";
import { buildFilePath } from "../lib/domain/build-record.ts";
import { AppError } from "../lib/errors/app-error.ts";
import { sendEvents } from "../lib/http/event-stream.ts";
import { buildMissing } from "../lib/services/builds/errors.ts";
import { BUILD_STATES, type BuildEvent, type BuildView } from "../lib/services/contracts.ts";
import { assetJson } from "./asset-json.ts";
import { type Api, type ApiContext, answer, createApi, requestIdOf } from "./create-api.ts";
import { json, problem } from "./replies.ts";
import { readJson } from "./request-body.ts";

const id = z.object({ id: z.string().uuid() });
const SCHEMATIC_ID = z.string().length(64);
/** Shows that the caller knows the schematic, whose ID is cut short otherwise when it opens a configuration. */
const knowing = z.object({ schematic: SCHEMATIC_ID.optional() });
const buildSchema = z
  .object({
    id: z.string(),
    state: z.enum(BUILD_STATES),
    assetKey: z.string(),
    schematicId: z.string(),
    schematicHidden: z.boolean(),
    version: z.string(),
    path: z.string(),
    lockId: z.string().nullable(),
  })
  .loose()
  .openapi("Build");
const content = <T extends z.ZodType>(schema: T) => ({ "application/json": { schema } });

const list = createRoute({
  method: "get",
  path: "/api/v1/builds",
  tags: ["builds"],
  summary: "Builds, newest first",
  description:
    "IDs of schematics with an embedded machine configuration are cut short (`schematicHidden`), unless `schematic` names them.",
  request: {
    query: z.object({
      schematic: SCHEMATIC_ID.optional(),
      state: z.enum(BUILD_STATES).optional(),
      limit: z.coerce.number().int().min(1).max(200).default(50),
      before: z.string().uuid().optional(),
    }),
  },
  responses: {
    200: { description: "A page of builds", content: content(z.object({ builds: z.array(buildSchema) })) },
    400: problem("A parameter that is not valid"),
  },
});

const startBody = z
  .object({
    schematic: z.string(),
    version: z.string(),
    path: z.string(),
    again: z.boolean().exactOptional(),
  })
  .strict();

const start = createRoute({
  method: "post",
  path: "/api/v1/builds",
  tags: ["builds"],
  summary: "Start a build, or join the one that runs",
  description:
    'Body: {"schematic": id, "version": tag, "path": file name}. 200 when the file is already there. A failure of the last 30 s that would come again is answered as it was; "again": true tries the work anew.',
  responses: {
    202: { description: "The build", content: content(buildSchema) },
    400: problem("The body is not valid, or the version or the schematic does not allow this file"),
    404: problem("Unknown schematic or version"),
    413: problem("The body is larger than 16 KiB"),
  },
});

const get = createRoute({
  method: "get",
  path: "/api/v1/builds/{id}",
  tags: ["builds"],
  summary: "One build: state, phase, percent, error, timings",
  description:
    "`schematic` shows that you know its ID, which is cut short otherwise when it opens a configuration.",
  request: { params: id, query: knowing },
  responses: {
    200: { description: "The build", content: content(buildSchema) },
    404: problem("No such build"),
  },
});

const cancel = createRoute({
  method: "post",
  path: "/api/v1/builds/{id}/cancel",
  tags: ["builds"],
  summary: "Cancel a build that is not finished",
  request: { params: id, query: knowing },
  responses: {
    200: { description: "The build", content: content(buildSchema) },
    404: problem("No such build"),
    409: problem("The build is finished"),
  },
});

const events = createRoute({
  method: "get",
  path: "/api/v1/builds/{id}/events",
  tags: ["builds"],
  summary: "Follow a build as server-sent events",
  description:
    "Replays from the start, or after Last-Event-ID, and ends with the build. Works with `curl -N`.",
  request: { params: id, query: knowing.extend({ lastEventId: z.string().optional() }) },
  responses: {
    200: {
      description: "Events state, phase, progress, done, log; failure when the stream itself broke",
      content: { "text/event-stream": { schema: z.string() } },
    },
    404: problem("No such build"),
  },
});

/** What the API shows of a build: its fields plus links, without names inside the object store. */
const buildJson = ({ asset, ...build }: BuildView) => ({
  ...build,
  asset: asset && assetJson(asset),
  links: {
    self: `/api/v1/builds/${build.id}`,
    events: `/api/v1/builds/${build.id}/events`,
    ...(build.schematicHidden ? {} : { download: buildFilePath(build) }),
  },
});

async function requireBuild(c: ApiContext, buildId: string, knowing?: string): Promise<BuildView> {
  const build = await c.var.services.builds.find(buildId, knowing);
  if (!build) throw buildMissing(buildId);
  return build;
}

/** Events of a build on the raw response; a failure in the middle is logged and told as an event. */
async function stream(
  c: ApiContext,
  source: (signal: AbortSignal) => AsyncIterable<BuildEvent>,
): Promise<Response> {
  await sendEvents(c.env.outgoing, source, (error) => {
    c.var.onFailure(error, { requestId: requestIdOf(c), path: c.req.path });
    return error instanceof AppError ? error.message : "The event stream broke; reconnect";
  });
  return RESPONSE_ALREADY_SENT;
}

export function buildRoutes(): Api {
  const app = createApi();
  answer(app, list, async (c) => {
    const { schematic, state, limit, before } = c.req.valid("query");
    const builds = await c.var.services.builds.list({
      limit,
      ...(schematic ? { schematicId: schematic } : {}),
      ...(state ? { state } : {}),
      ...(before ? { before } : {}),
    });
    return json(c, { builds: builds.map(buildJson) });
  });
  answer(app, start, async (c) => {
    const body = parseStart(await readJson(c, START_BODY));
    const { assets } = c.var.services;
    const resolved = await assets.resolve({
      schematicId: body.schematic,
      version: body.version,
      path: body.path,
    });
    const { again = false } = body;
    const build = await assets.start(resolved, { requestId: requestIdOf(c), again });
    return json(c, buildJson(build), build.state === "ready" ? 200 : 202, {
      Location: `/api/v1/builds/${build.id}`,
    });
  });
  answer(app, get, async (c) => {
    const { schematic } = c.req.valid("query");
    return json(c, buildJson(await requireBuild(c, c.req.valid("param").id, schematic)));
  });
  answer(app, cancel, async (c) => {
    const { schematic } = c.req.valid("query");
    return json(c, buildJson(await c.var.services.builds.cancel(c.req.valid("param").id, schematic)));
  });
  answer(app, events, async (c) => {
    const build = await requireBuild(c, c.req.valid("param").id);
    const { schematic: knowing, lastEventId: asked } = c.req.valid("query");
    const lastEventId = c.req.header("last-event-id") ?? asked;
    return stream(c, (signal) =>
      c.var.services.builds.events(build.id, {
        signal,
        ...(lastEventId ? { lastEventId } : {}),
        ...(knowing ? { knowing } : {}),
      }),
    );
  });
  return app;
}

const START_BODY = {
  limitBytes: 16 * 1024,
  hint: 'Send {"schematic": "<id>", "version": "v1.13.2", "path": "metal-amd64.iso"}',
};

function parseStart(value: unknown): z.infer<typeof startBody> {
  const parsed = startBody.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.slice(0, 3).map((i) => `${i.path.join(".") || "body"}: ${i.message}`);
  throw new AppError("invalid_input", `The body is not valid: ${issues.join("; ")}`, {
    hint: "Send schematic, version and path; again is allowed, nothing else",
  });
}
