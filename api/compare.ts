/** GET /api/v1/compare: what differs between two schematics, two releases, or both. */
import { createRoute, z } from "@hono/zod-openapi";
import { readSide, type WrittenSide } from "../lib/domain/compare-side.ts";
import { readMachineTarget } from "../lib/domain/machine-target.ts";
import { quoteText } from "../lib/domain/quote.ts";
import { invalidInput } from "../lib/errors/app-error.ts";
import { type Api, answer, createApi } from "./create-api.ts";
import { json, problem } from "./replies.ts";

const side = z.object({ id: z.string().nullable(), version: z.string(), sample: z.boolean() });
const image = z.object({ name: z.string(), version: z.string(), digest: z.string() }).nullable();
const words = z.array(z.object({ change: z.enum(["same", "removed", "added"]), value: z.string() }));

/** The machine that is asked about, in queries of several routes. */
export const machineQuery = {
  platform: z.string().optional().describe("Platform; metal without it"),
  arch: z.string().optional().describe("amd64 or arm64; boards are arm64 always"),
  secureboot: z.string().optional(),
};

const route = createRoute({
  method: "get",
  path: "/api/v1/compare",
  tags: ["catalog"],
  summary: "What differs between two schematics, two releases, or both",
  description:
    "a and b are an ID, a version, <id>@<version>, an installer reference or the address of a file. What one leaves out is taken from the other. Machine configurations are never part of the answer, only whether they differ.",
  request: { query: z.object({ a: z.string(), b: z.string(), ...machineQuery }) },
  responses: {
    200: {
      description: "Fields, extensions, command line, text, catalogs and sizes of ready files",
      content: {
        "application/json": {
          schema: z.object({
            before: side,
            after: side,
            target: z.object({ platform: z.string(), arch: z.string(), secureboot: z.boolean() }),
            diff: z.object({
              fields: z.array(z.object({}).loose()),
              extensions: z.array(
                z.object({ name: z.string(), change: z.string(), before: image, after: image }).loose(),
              ),
              commandLine: words,
              text: words,
            }),
            catalogs: z.array(
              z.object({
                kind: z.string(),
                name: z.string(),
                change: z.string(),
                before: image,
                after: image,
              }),
            ),
            files: z.array(
              z.object({
                path: z.string(),
                before: z.number().nullable(),
                after: z.number().nullable(),
              }),
            ),
          }),
        },
      },
    },
    400: problem("A side that names neither an ID nor a version"),
    404: problem("Unknown schematic or version"),
  },
});

function requireSide(name: string, text: string): WrittenSide {
  const written = readSide(text);
  if (written !== null) return written;
  throw invalidInput(`${name}: ${quoteText(text.slice(0, 200))} names neither a schematic nor a version`, {
    hint: "Write an ID of 64 hex digits, a version such as v1.13.2, or both as <id>@<version>.",
  });
}

export function compareRoutes(): Api {
  const app = createApi();
  answer(app, route, async (c) => {
    const { a, b } = c.req.valid("query");
    const sides = { before: requireSide("a", a), after: requireSide("b", b) };
    const target = readMachineTarget(new URL(c.req.url).searchParams);
    const secret = (lines: number) => `(secret, ${lines} ${lines === 1 ? "line" : "lines"})`;
    return json(c, await c.var.services.comparing.compare(sides, target, secret));
  });
  return app;
}
