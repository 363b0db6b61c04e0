/** Inputs of plans on this machine: downloads are kept between runs. */
import { join } from "node:path";
import type { BuildPlan } from "../lib/imager/types.ts";
import { createInputFetcher, type FetchInput } from "../lib/services/inputs/input-fetcher.ts";
import { LocalCache } from "../lib/services/inputs/local-cache.ts";
import { requireVerifiedInputs } from "../lib/services/inputs/verified-inputs.ts";
import type { CommandIo } from "./command-io.ts";
import type { ImageShelf } from "./image-shelf.ts";
import type { CommandSettings } from "./settings.ts";

const INPUT_BYTES = 20 * 2 ** 30;
const DAY_MS = 24 * 3_600_000;

/** A fetchInput per plan, over the images of the shelf; what is cached is held against the signature rules of today. */
export function createPlanInputs(
  settings: CommandSettings,
  shelf: ImageShelf,
  io: Pick<CommandIo, "tell">,
): (plan: Pick<BuildPlan, "inputs">) => FetchInput {
  const cache = new LocalCache({
    dir: join(settings.cacheDir, "inputs"),
    maxBytes: INPUT_BYTES,
    minIdleMs: DAY_MS,
    onError: (error) => io.tell(`trouble in the cache: ${String(error)}`),
  });
  const fetcher = createInputFetcher({ images: shelf.images, cache });
  return (plan) => {
    const fetchInput = fetcher(plan);
    return async (input, signal) => {
      await requireVerifiedInputs(shelf.images, { inputs: [input] }, signal);
      return fetchInput(input, signal);
    };
  };
}
