/** GET /api/v1/schematics/:schematic/upgrade: what another release makes of a schematic, and the one that fits. */
import { createRoute, z } from "@hono/zod-openapi";
import { readMachineTarget } from "../lib/domain/machine-target.ts";
import { forbidReading } from "../lib/http/cross-origin.ts";
import { machineQuery } from "./compare.ts";
import { type Api, answer, createApi } from "./create-api.ts";
import { json, problem } from "./replies.ts";

const image = z.object({ name: z.string(), version: z.string(), digest: z.string() }).nullable();

const route = createRoute({
  method: "get",
  path: "/api/v1/schematics/{schematic}/upgrade",
  tags: ["schematics"],
  summary: "Whether a schematic fits another version, and the schematic that does",
  description:
    "Stores nothing: POST the migrated text to /schematics for that. Repeat leave-out with the names of extensions or parts to have the migrated text do without them where the target lacks them.",
  request: {
    params: z.object({ schematic: z.string() }),
    query: z.object({
      to: z.string().optional().describe("Target; the newest stable version without it"),
      from: z.string().optional().describe("What runs now"),
      "leave-out": z.union([z.string(), z.array(z.string())]).optional(),
      ...machineQuery,
    }),
  },
  responses: {
    200: {
      description:
        "The check; ready says whether every file of the target can be made from the migrated text",
      content: {
        "application/json": {
          schema: z.object({
            schematic: z.string(),
            from: z.string().nullable(),
            to: z.string(),
            sample: z.boolean(),
            ready: z.boolean(),
            stops: z.array(z.string()),
            extensions: z.array(
              z.object({
                name: z.string(),
                state: z.enum(["present", "renamed", "newer", "gone", "unknown"]),
                before: image,
                after: image,
                version: z.string().nullable(),
                action: z.enum(["keep", "rename", "merge", "leave-out"]),
              }),
            ),
            findings: z.array(
              z.object({
                level: z.enum(["problem", "note"]),
                code: z.string(),
                values: z.record(z.string(), z.string()),
                part: z.string().nullable(),
              }),
            ),
            leftOut: z.array(z.string()),
            commandLine: z
              .array(z.object({ change: z.enum(["same", "removed", "added"]), value: z.string() }))
              .nullable(),
            migrated: z.object({ id: z.string(), schematic: z.string(), unchanged: z.boolean() }),
          }),
        },
      },
    },
    400: problem("A version that cannot be read, or a schematic with more than 200 extensions"),
    404: problem("Unknown schematic or version"),
  },
});

export function upgradeRoutes(): Api {
  const app = createApi();
  answer(app, route, async (c) => {
    const { searchParams } = new URL(c.req.url);
    const { stored, from, to, sample, check, commandLine } = await c.var.services.upgrades.check({
      schematicId: c.req.valid("param").schematic,
      from: searchParams.get("from"),
      to: searchParams.get("to"),
      target: readMachineTarget(searchParams),
      leaveOut: searchParams.getAll("leave-out"),
    });
    // As with the text itself: a page of another site must not read a configuration.
    if (stored.schematic.customization.embeddedMachineConfiguration !== undefined)
      forbidReading(c.env.outgoing);
    const { ready, stops, extensions, findings, leftOut, migrated } = check;
    const { id, canonical, unchanged } = migrated;
    return json(c, {
      ...{ schematic: stored.id, from, to, sample, ready, stops, extensions, findings, leftOut, commandLine },
      migrated: { id, schematic: canonical, unchanged },
    });
  });
  return app;
}
