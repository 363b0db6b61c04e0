/** Asks of every image a plan is made of whether it may be used, before anything of it is taken from a cache. */
import type { BuildPlan } from "../../imager/types.ts";
import type { SourceImages } from "../../oci/types.ts";

/** What is cached may be from days when less was asked of images; source_invalid naming the first that may not be used. */
export async function requireVerifiedInputs(
  images: Pick<SourceImages, "requireVerified">,
  plan: Pick<BuildPlan, "inputs">,
  signal: AbortSignal,
): Promise<void> {
  const named = new Map(plan.inputs.map((input) => [`${input.repository}@${input.digest}`, input]));
  for (const { repository, digest } of named.values()) {
    await images.requireVerified(repository, digest, signal);
  }
}
