/** Before the first file of a release is made, the source is asked once more what the tags of that release mean. */
import type { BuildRepository } from "../../db/build-repository.ts";
import { AppError } from "../../errors/app-error.ts";
import type { ReleaseService, ResolvedAsset } from "../contracts.ts";

export interface FirstUseOptions {
  builds: Pick<BuildRepository, "hasReady">;
  releases: Pick<ReleaseService, "require" | "askAgain">;
}

/**
 * Lets the making of an asset begin. A tag that was moved or taken back since the list was read is noticed here, and not
 * by whoever boots the file. Releases that something was made of are not asked about, so that builds of them go on while
 * the source is away; neither are locks, which name their inputs by digest. upstream_unavailable when the source cannot
 * be asked, or has something else now: then the next request gets that.
 */
export function createFirstUse({
  builds,
  releases,
}: FirstUseOptions): (asset: ResolvedAsset) => Promise<void> {
  const used = new Set<string>();
  return async ({ version, lockId }) => {
    if (lockId !== undefined || used.has(version)) return;
    if (!(await builds.hasReady(version))) {
      const planned = await releases.require(version);
      await releases.askAgain(version).catch((error: unknown) => {
        throw withWhatStillWorks(error);
      });
      if ((await releases.require(version)) !== planned) throw moved(version);
    }
    used.add(version);
  };
}

function withWhatStillWorks(error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== "upstream_unavailable") return error;
  const hint =
    "The source is asked before the first file of a release is made. Files of other releases are made and served meanwhile.";
  return new AppError(error.code, error.message, { ...error.extra, hint });
}

const moved = (version: string) =>
  new AppError("upstream_unavailable", `the source has just changed release ${version}`, {
    hint: "Ask again: the file is then made of what the source has now.",
    retryAfterSeconds: 1,
  });
