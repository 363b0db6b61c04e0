/** POST /extensions/pins/:id/retire: releases do not get this image any more. */
import { changing } from "../../../page-access.ts";

export async function POST(
  request: Request,
  { params }: { params: Promise<{ id: string }> },
): Promise<Response> {
  const { id } = await params;
  const source = new URL(request.url).searchParams.get("source") ?? "";
  const page = `/extensions/${encodeURIComponent(source)}`;
  return changing(request, page, async (own) => {
    await own.retire(id);
    return page;
  });
}
