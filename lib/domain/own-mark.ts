/** What is said beside an extension or overlay that is not official, told from what lists hold. Also run by the browser. */
import type { OwnOrigin } from "./release.ts";

/** own: nothing official has that name. replaces: it stands in place of an official one. */
export type OwnMark = "own" | "replaces";

/** References of own images name our own registry, and a repository below own/. */
const OWN_PLACE = /^[^/]+\/own\//;
const OFFICIAL = "siderolabs/";

/** Null for official ones. Lists of the API hold no `own`; there the name tells. */
export function ownMark({ name, ref, own }: { name: string; ref: string; own?: OwnOrigin }): OwnMark | null {
  if (own !== undefined) return own.override ? "replaces" : "own";
  if (!OWN_PLACE.test(ref)) return null;
  return name.startsWith(OFFICIAL) ? "replaces" : "own";
}
