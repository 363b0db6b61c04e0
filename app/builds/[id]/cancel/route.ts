/** POST /builds/:id/cancel: ends a build and goes back to its page; one that is finished stays as it is. */
import { isAppError } from "../../../../lib/errors/is-app-error.ts";
import { pageContext } from "../../../../lib/services/current.ts";
import { readPost, refuseForeign, seeOther } from "../../../form-request.ts";

export async function POST(
  request: Request,
  { params }: { params: Promise<{ id: string }> },
): Promise<Response> {
  if ((await readPost(request)) === null) return refuseForeign();
  const { id } = await params;
  const { builds } = pageContext().services;
  try {
    await builds.cancel(id);
  } catch (error) {
    if (!isAppError(error) || error.status >= 500) throw error;
  }
  return seeOther(`/builds/${encodeURIComponent(id)}`);
}
