/** GET /schematics/:id/qr?version=&path=: the address of a file as a picture for a phone or another machine. */
import { qrDocument } from "../../../../components/result/qr-code.tsx";
import { parseAssetPath } from "../../../../lib/domain/asset-path.ts";
import { isSchematicId } from "../../../../lib/domain/schematic-id.ts";
import { isAppError } from "../../../../lib/errors/is-app-error.ts";
import { pageContext } from "../../../../lib/services/current.ts";

const VERSION = /^v\d[\w.-]{0,63}$/;
/** Pictures of anything else would lend this server's name to any address. */
const LONGEST_PATH = 100;

function isAssetPath(path: string): boolean {
  if (path.length > LONGEST_PATH) return false;
  try {
    parseAssetPath(path);
    return true;
  } catch (error) {
    if (isAppError(error)) return false;
    throw error;
  }
}

export async function GET(request: Request, { params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  const query = new URL(request.url).searchParams;
  const version = query.get("version") ?? "";
  const path = query.get("path") ?? "";
  if (!isSchematicId(id) || !VERSION.test(version) || !isAssetPath(path))
    return new Response("There is no such file\n", { status: 404 });
  const svg = qrDocument(`${pageContext().publicUrl}/image/${id}/${version}/${path}`);
  return new Response(svg, {
    headers: { "Content-Type": "image/svg+xml", "Cache-Control": "private, max-age=3600" },
  });
}
