/** GET /api/v1/models/…/lock and /api/v1/locks: write a lock, keep it, read it back, and the files built from it. */
import { createRoute, z } from "@hono/zod-openapi";
import { splitSidecar } from "../lib/domain/asset-path.ts";
import { modelLockSchema } from "../lib/domain/model-lock.ts";
import { AppError } from "../lib/errors/app-error.ts";
import { safeFileName } from "../lib/http/disposition.ts";
import { type Api, type ApiContext, answer, createApi } from "./create-api.ts";
import { aboutOf, answerAbout, answerFile, assetHeaders } from "./file-answer.ts";
import { json, problem } from "./replies.ts";
import { readJson } from "./request-body.ts";

const MOST_BYTES = 1024 * 1024;
const MOST_HEADER = 2000;
const DIFFERENCES = "X-Lock-Differences";
const id = z.string().openapi({ description: "ID of the lock: SHA-256 of its canonical JSON" });

const lockOfModel = createRoute({
  method: "get",
  path: "/api/v1/models/{schematic}/{version}/lock",
  tags: ["evidence"],
  summary: "The inputs of a schematic and version, by digest",
  request: { params: z.object({ schematic: z.string(), version: z.string() }) },
  responses: {
    200: {
      description: "Source images in the order they are applied, and what else decides bytes here",
      content: { "application/json": { schema: modelLockSchema } },
    },
    404: problem("Unknown schematic or version"),
  },
});

const keep = createRoute({
  method: "post",
  path: "/api/v1/locks",
  tags: ["evidence"],
  summary: "Keep a lock, so that files can be built from it",
  description:
    "The body is the answer of /api/v1/models/{schematic}/{version}/lock, from now or years ago. Equal locks have equal IDs.",
  request: { body: { content: { "application/json": { schema: modelLockSchema } }, required: true } },
  responses: {
    201: {
      description: "The lock is kept; Location names it",
      content: { "application/json": { schema: z.object({ id: z.string(), location: z.string() }) } },
    },
    400: problem("What is sent is no lock, or names images that are none of a Talos release"),
    404: problem("The schematic of the lock is not stored here"),
    413: problem("The body is larger than 1 MiB"),
  },
});

const get = createRoute({
  method: "get",
  path: "/api/v1/locks/{id}",
  tags: ["evidence"],
  summary: "A lock that was kept",
  request: { params: z.object({ id }) },
  responses: {
    200: { description: "The lock", content: { "application/json": { schema: modelLockSchema } } },
    404: problem("No such lock"),
  },
});

const file = createRoute({
  method: "get",
  path: "/api/v1/locks/{id}/{path}",
  tags: ["evidence"],
  summary: "Download one file, built from the inputs of a lock",
  description:
    "As /image/{schematic}/{version}/{path}, with its endings, ranges and `Prefer: respond-async`, but made from the digests of the lock. X-Lock-Differences tells in what this factory differs from the one that made the lock; `Prefer: handling=strict` refuses the file then.",
  request: {
    params: z.object({ id, path: z.string() }),
    query: z.object({ filename: z.string().optional(), async: z.string().optional() }),
  },
  responses: {
    200: { description: "The file", content: { "application/octet-stream": { schema: z.string() } } },
    202: { description: "The build was started; Location names it" },
    206: { description: "The range that was asked for" },
    400: problem("The path or the lock does not allow this file"),
    404: problem("Unknown lock, or inputs that neither the store nor the source has: the problem names them"),
    409: problem("handling=strict, and the factory differs"),
    501: problem(
      "Neither the release nor this factory has GRUB for the file; the hint names the Debian package",
    ),
  },
});

const KEEP_BODY = {
  limitBytes: MOST_BYTES,
  hint: "Send the answer of /api/v1/models/{schematic}/{version}/lock",
};

function refuseDifferences(c: ApiContext, differences: string[]): void {
  const strict = /(^|[,;\s])handling=strict($|[,;\s])/.test(c.req.header("prefer") ?? "");
  if (!strict || differences.length === 0) return;
  throw new AppError("conflict", `this factory differs from the one of the lock: ${differences.join("; ")}`, {
    hint: "Leave out Prefer: handling=strict to get the file as this factory makes it.",
    details: { differences },
    retryable: false,
  });
}

/** Sentences repeat words of the lock, which anybody may have written. */
const headerText = (text: string): string => text.replace(/[^ -~]/g, "?").slice(0, MOST_HEADER);

async function answerLocked(c: ApiContext, lockId: string, asked: string): Promise<Response> {
  const { locks, lockBuilds } = c.var.services;
  const { path, sidecar } = splitSidecar(asked);
  const lock = await locks.require(lockId);
  const { asset, differences } = await lockBuilds.resolve(lock, path);
  refuseDifferences(c, differences);
  const filename = c.req.query("filename");
  const differing = differences.length === 0 ? {} : { [DIFFERENCES]: headerText(differences.join("; ")) };
  const locked = {
    asset,
    headers: { ...assetHeaders(path, filename), ...differing },
    // Lists of checksums name what today's tags give.
    note: () => Promise.resolve(),
    beforeBuild: (signal: AbortSignal) => lockBuilds.requireInputs(lock, asset, signal),
  };
  if (sidecar === null) return answerFile(c, locked);
  return answerAbout(c, locked, aboutOf(c, sidecar), filename ? safeFileName(filename) : path);
}

export function lockRoutes(): Api {
  const app = createApi();
  answer(app, lockOfModel, async (c) => {
    const { schematic, version } = c.req.valid("param");
    return json(c, await c.var.services.locks.lock(schematic, version));
  });
  app.openAPIRegistry.registerPath(keep);
  // Read here and not by the description of the route, so that a large body is refused before it is parsed.
  app.post("/api/v1/locks", async (c) => {
    const kept = await c.var.services.locks.keep(await readJson(c, KEEP_BODY));
    const location = `/api/v1/locks/${kept.id}`;
    return json(c, { id: kept.id, location }, 201, { Location: location });
  });
  answer(app, get, async (c) => json(c, await c.var.services.locks.require(c.req.valid("param").id)));
  answer(app, file, (c) => answerLocked(c, c.req.valid("param").id, c.req.valid("param").path));
  return app;
}
