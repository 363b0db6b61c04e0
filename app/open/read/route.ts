/** POST /open/read: opens what was pasted, or goes back to the page that says what can be opened. */
import { pageContext } from "../../../lib/services/current.ts";
import { readPost, seeOther } from "../../form-request.ts";
import { openPasted } from "../open-pasted.ts";

/** Longer texts are YAML, which must not be part of an address. */
const LONGEST_REFERENCE = 1_000;

export async function POST(request: Request): Promise<Response> {
  const fields = await readPost(request);
  if (fields instanceof Response) return fields;
  const what = fields.get("what") ?? "";
  const opening = await openPasted(pageContext().services, what);
  if (opening.kind === "found") return seeOther(opening.path);
  const query = new URLSearchParams({ problem: opening.kind, about: opening.about });
  const plain = what.trim();
  if (opening.kind !== "yaml" && plain.length <= LONGEST_REFERENCE && !/[\r\n]/.test(plain))
    query.set("pasted", plain);
  return seeOther(`/open?${query}`);
}
