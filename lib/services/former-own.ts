/** Files whose own extension or overlay is not in use any more: what was built stays, nothing new is built. */
import { AppError } from "../errors/app-error.ts";
import type { AssetRequest, AssetService, ResolvedAsset } from "./contracts.ts";

type Resolve = (request: AssetRequest) => Promise<ResolvedAsset>;

export interface FormerOwnOptions {
  resolve: Resolve;
  /** The same over releases with what was in use before. */
  resolveFormer: Resolve;
  findReady: AssetService["findReady"];
  inline: AssetService["inline"];
}

/** Resolves as before; what is refused for a missing extension or overlay is given nevertheless when it is there already. */
export function resolveWithFormer({ resolve, resolveFormer, findReady, inline }: FormerOwnOptions): Resolve {
  return async (request) => {
    try {
      return await resolve(request);
    } catch (error) {
      if (!isMissing(error)) throw error;
      // Whatever is wrong with the second try, the first one says it better.
      const former = await resolveFormer(request).catch(() => null);
      if (former === null) throw error;
      if (inline(former) !== null || (await findReady(former.assetKey)) !== null) return former;
      throw error;
    }
  };
}

const isMissing = (error: unknown): boolean =>
  error instanceof AppError &&
  error.code === "invalid_input" &&
  (error.extra.details?.extension !== undefined || error.extra.details?.overlay !== undefined);
