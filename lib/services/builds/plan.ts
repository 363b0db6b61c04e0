/** Reads a plan back from the row it was stored in: another version of the program may have written it. */
import { z } from "zod";
import { ARCHES } from "../../domain/asset.ts";
import { PHASES } from "../../domain/build-phases.ts";
import { hexSchema } from "../../domain/digest-schemas.ts";
import { AppError } from "../../errors/app-error.ts";
import type { BuildPlan, Json } from "../../imager/types.ts";

const json: z.ZodType<Json> = z.json();
const arch = z.enum(ARCHES);
const source = { id: z.string(), repository: z.string(), digest: z.string(), arch };

const planSchema: z.ZodType<BuildPlan> = z.object({
  v: z.literal(1),
  version: z.string(),
  profile: z.object({
    kind: z.enum(["kernel", "cmdline", "initramfs", "iso", "uki", "installer", "image"]),
    platform: z.string(),
    arch,
    secureboot: z.boolean(),
    outFormat: z.enum(["raw", ".tar.gz", ".gz", ".xz", ".zst"]),
    disk: z
      .object({
        format: z.enum(["raw", "qcow2", "vhd", "ova"]),
        sizeBytes: z.number(),
        formatOptions: z.string(),
      })
      .exactOptional(),
  }),
  sample: z.boolean(),
  inputs: z.array(
    z.discriminatedUnion("kind", [
      z.object({ ...source, kind: z.literal("image-file"), path: z.string() }),
      z.object({ ...source, kind: z.literal("image-folder"), path: z.string() }),
      z.object({ ...source, kind: z.literal("image-tree"), arch: z.enum([...ARCHES, "host"]) }),
      z.object({ ...source, kind: z.literal("image-layers"), arch: z.enum([...ARCHES, "host"]) }),
    ]),
  ),
  steps: z.array(
    z.object({
      id: z.string(),
      op: z.string(),
      phase: z.enum(PHASES),
      title: z.string(),
      params: z.record(z.string(), json),
      needs: z.array(z.string()),
      key: hexSchema,
      part: z.boolean(),
    }),
  ),
  fileName: z.string().exactOptional(),
  key: hexSchema,
});

/** The plan, or `internal` when the row holds something this version cannot run. */
export function parsePlan(stored: unknown): BuildPlan {
  const plan = planSchema.safeParse(stored);
  if (plan.success) return plan.data;
  throw new AppError("internal", "the stored plan of the build cannot be read by this version", {
    hint: "Ask for the file again; a new build gets a new plan.",
    details: { where: plan.error.issues[0]?.path.join(".") ?? "" },
    retryable: false,
  });
}
