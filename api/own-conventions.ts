/** What the routes of own extensions share: who may change them, and how their bodies are read. */
import { z } from "@hono/zod-openapi";
import { invalidInput } from "../lib/errors/app-error.ts";
import type { OwnSourceService } from "../lib/services/own-contracts.ts";
import type { ApiContext } from "./create-api.ts";
import { problemReply } from "./replies.ts";
import { readJson } from "./request-body.ts";

const MOST_BYTES = 64 * 1024;

export const OWN_BODY = {
  limitBytes: MOST_BYTES,
  hint: "docs/own-extensions.md shows what is sent.",
  whenEmpty: {},
};

export const OWN_TAG = { tags: ["own extensions"] };

export const ownId = z.object({ id: z.string().uuid() });

export const looseJson = { "application/json": { schema: z.object({}).loose() } };

export const CHANGING = "Needs `Authorization: Bearer <ADMIN_TOKEN>` where OWN_EXTENSIONS is admin.";

export const refusals = {
  400: problemReply,
  401: problemReply,
  403: problemReply,
  404: problemReply,
  409: problemReply,
};

/** The token that a request carries, null for none. */
const tokenOf = (c: ApiContext): string | null =>
  /^Bearer\s+(\S+)$/i.exec(c.req.header("authorization") ?? "")?.[1] ?? null;

/** Own extensions for a request that may change them; unauthorized or forbidden for any other. */
export function allowedToChange(c: ApiContext): OwnSourceService {
  const { own } = c.var.services;
  own.access.require(tokenOf(c));
  return own;
}

const adoptSchema = z.strictObject({
  talos: z.string().max(200).exactOptional(),
  acceptWarnings: z.boolean().exactOptional(),
});

/** The body of a request to adopt; an empty one says nothing, which is allowed. */
export async function readAdopt(c: ApiContext): Promise<z.output<typeof adoptSchema>> {
  const parsed = adoptSchema.safeParse(await readJson(c, OWN_BODY));
  if (parsed.success) return parsed.data;
  throw invalidInput(`The body is not valid: ${parsed.error.issues[0]?.message}`, {
    hint: 'Send {"talos": ">=1.12.0", "acceptWarnings": true}, or nothing.',
  });
}
