/** One page of a tag list and the way to the next (OCI distribution-spec, listing tags; RFC 8288 Link). */
import { z } from "zod";
import { isTag } from "./reference.ts";
import { unavailable } from "./retry.ts";

const pageSchema = z.object({ tags: z.array(z.string()).nullable() });
const LINK = /<([^>]*)>\s*((?:;[^,<]*)*)/g;

/** Tags of a page; what cannot be a tag is dropped. upstream_unavailable when the page is not a tag list. */
export function parseTagPage(what: string, bytes: Uint8Array): string[] {
  let json: unknown;
  try {
    json = JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch {
    json = undefined;
  }
  const page = pageSchema.safeParse(json);
  if (!page.success) throw unavailable(what, "the answer is not a tag list");
  return (page.data.tags ?? []).filter(isTag);
}

/**
 * Query of the next page, null at the end. Only the query is taken: a proxy's Link may carry the host or path of what is
 * behind it, and credentials must not follow it there.
 */
export function nextPageQuery(link: string | null): string | null {
  for (const [, target, parameters] of (link ?? "").matchAll(LINK)) {
    if (!/;\s*rel\s*=\s*"?next"?/i.test(parameters ?? "")) continue;
    const query = (target ?? "").split("#")[0]?.split("?")[1] ?? "";
    return query === "" ? null : query;
  }
  return null;
}
