/** POST /extensions/pins/:id/adopt: from now on releases in the range get this image. */
import { changing } from "../../../page-access.ts";

export async function POST(
  request: Request,
  { params }: { params: Promise<{ id: string }> },
): Promise<Response> {
  const { id } = await params;
  const source = new URL(request.url).searchParams.get("source") ?? "";
  const page = `/extensions/${encodeURIComponent(source)}`;
  return changing(request, page, async (own, fields) => {
    const talos = fields.get("talos");
    await own.adopt(id, {
      ...(talos === null ? {} : { talos }),
      acceptWarnings: fields.get("accept-warnings") === "1",
    });
    return page;
  });
}
