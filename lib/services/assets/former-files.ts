/** Files whose own extension, or whose release, is not offered any more: what was built stays, nothing new is built. */
import type { ReleaseRepository } from "../../db/release-repository.ts";
import { versionTag } from "../../domain/versions.ts";
import { AppError, notFound } from "../../errors/app-error.ts";
import type { AssetRequest, AssetService, ReleaseService, ResolvedAsset } from "../contracts.ts";
import { fromRecord } from "../releases/entry.ts";

type Resolve = (request: AssetRequest) => Promise<ResolvedAsset>;

/** Another way to resolve what is refused for one reason. */
export interface FormerWay {
  isGone: (error: AppError) => boolean;
  /** The same over releases with what was offered before. */
  resolve: Resolve;
}

export interface FormerFilesOptions {
  resolve: Resolve;
  former: FormerWay[];
  findReady: AssetService["findReady"];
  inline: AssetService["inline"];
}

/** Resolves as before; what is refused because something is not offered any more is given nevertheless when it is there already. */
export function resolveWithFormer({ resolve, former, findReady, inline }: FormerFilesOptions): Resolve {
  return async (request) => {
    try {
      return await resolve(request);
    } catch (error) {
      const way = error instanceof AppError ? former.find(({ isGone }) => isGone(error)) : undefined;
      if (way === undefined) throw error;
      // Whatever is wrong with the second try, the first one says it better.
      const found = await way.resolve(request).catch(() => null);
      if (found === null) throw error;
      if (inline(found) !== null || (await findReady(found.assetKey)) !== null) return found;
      throw error;
    }
  };
}

/** Refused for an extension or overlay that the release does not have (any more). */
export const lacksOwn = ({ code, extra: { details } }: AppError): boolean =>
  code === "invalid_input" && (details?.extension !== undefined || details?.overlay !== undefined);

/** Refused for a release that is not offered (any more). */
export const lacksRelease = ({ code, extra: { details } }: AppError): boolean =>
  code === "not_found" && details?.release !== undefined;

export interface WithdrawnOptions {
  releases: Pick<ReleaseRepository, "find">;
  /** True when a file of that release was built here. */
  hasReady: (version: string) => Promise<boolean>;
}

/** Releases as they were last read, when the source took them back or parts of them, and something was built of them before. */
export function createWithdrawnReleases({
  releases,
  hasReady,
}: WithdrawnOptions): Pick<ReleaseService, "require"> {
  return {
    async require(written) {
      const version = versionTag(written);
      const record = await releases.find(version);
      const release = record === null || record.state === "broken" ? null : fromRecord(record).release;
      if (release === null || !(await hasReady(version)))
        throw notFound(`version ${version.slice(1)} is not available`);
      return release;
    },
  };
}
