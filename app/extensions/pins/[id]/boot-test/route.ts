/** POST /extensions/pins/:id/boot-test: a worker boots the extension once. */
import { pageContext } from "../../../../../lib/services/current.ts";
import { changing } from "../../../page-access.ts";

export async function POST(
  request: Request,
  { params }: { params: Promise<{ id: string }> },
): Promise<Response> {
  const { id } = await params;
  const source = new URL(request.url).searchParams.get("source") ?? "";
  const page = `/extensions/${encodeURIComponent(source)}`;
  return changing(request, page, async () => {
    await pageContext().services.bootTests.request(id, request.headers.get("x-request-id") ?? "");
    return page;
  });
}
