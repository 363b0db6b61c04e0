/** What the routes of own extensions share: who may change them, and how their bodies are read. */
import { z } from "@hono/zod-openapi";
import { invalidInput } from "../lib/errors/app-error.ts";
import type { OwnSourceService } from "../lib/services/own/contracts.ts";
import type { ApiContext } from "./create-api.ts";
import { problem } from "./replies.ts";
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

/** Who may not change own extensions. */
const unauthorized = {
  401: problem("No token, or not the administrator's"),
  403: problem("This factory takes no own extensions"),
};

/** What a request that only administrators may make can be answered with, when it says nothing but an ID. */
export const refusals = {
  ...unauthorized,
  400: problem("What is asked for is not valid"),
  404: problem("No such source or image"),
  409: problem("Not possible as things are: the detail says why"),
};

/** Besides, where a body is sent. */
export const oversized = { 413: problem("The body is larger than it may be") };

/** Besides, where images are fetched from a registry. */
export const fetching = {
  413: problem("An image, or the body, is larger than it may be"),
  502: problem("What the registry sent is damaged, or not signed as it must be"),
  503: problem("The registry is away; Retry-After tells when to come back"),
  504: problem("The registry was too slow"),
  507: problem("Own extensions take all the room they may take"),
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
