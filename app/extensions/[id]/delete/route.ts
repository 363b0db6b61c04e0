/** POST /extensions/:id/delete: forgets a source; its images stay for what needs them. */
import { changing } from "../../page-access.ts";

export async function POST(
  request: Request,
  { params }: { params: Promise<{ id: string }> },
): Promise<Response> {
  const { id } = await params;
  return changing(request, `/extensions/${encodeURIComponent(id)}`, async (own) => {
    await own.remove(id);
    return "/extensions";
  });
}
