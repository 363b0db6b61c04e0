/** POST /extensions/:id/look: fetches, checks and offers what is new at a source. */
import { changing } from "../../page-access.ts";

export async function POST(
  request: Request,
  { params }: { params: Promise<{ id: string }> },
): Promise<Response> {
  const { id } = await params;
  const page = `/extensions/${encodeURIComponent(id)}`;
  return changing(request, page, async (own) => {
    await own.look(id, request.signal);
    return page;
  });
}
