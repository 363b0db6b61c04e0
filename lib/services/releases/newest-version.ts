/** The release that is meant when nobody names one. */
import { isPrerelease } from "../../domain/versions.ts";
import { notFound } from "../../errors/app-error.ts";
import type { ReleaseService } from "../contracts.ts";

/** The newest stable version offered, with "v", else the newest of all. not_found when the source offers none. */
export async function requireNewestVersion(releases: Pick<ReleaseService, "versions">): Promise<string> {
  const versions = await releases.versions();
  const newest = versions.findLast((version) => !isPrerelease(version)) ?? versions.at(-1);
  if (newest !== undefined) return newest;
  throw notFound("the source offers no release", { hint: "GET /api/v1/releases says what is missing." });
}
