/** POST /builds/:id/cancel: ends a build and goes back to its page; one that is finished stays as it is. */
import { isAppError } from "../../../../lib/errors/is-app-error.ts";
import { pageContext } from "../../../../lib/services/current.ts";
import { readPost, seeOther } from "../../../form-request.ts";

export async function POST(
  request: Request,
  { params }: { params: Promise<{ id: string }> },
): Promise<Response> {
  const fields = await readPost(request);
  if (fields instanceof Response) return fields;
  const { id } = await params;
  const { builds } = pageContext().services;
  try {
    await builds.cancel(id);
  } catch (error) {
    if (!isAppError(error) || error.status >= 500) throw error;
  }
  const knowing = new URL(request.url).search;
  return seeOther(`/builds/${encodeURIComponent(id)}${knowing}`);
}
