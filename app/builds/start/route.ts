/** POST /builds/start: starts or joins a build and goes to its page; a file made on the fly is sent at once. */
import { knowingQuery } from "../../../components/build/build-address.ts";
import { isAppError } from "../../../lib/errors/is-app-error.ts";
import { pageContext } from "../../../lib/services/current.ts";
import { readPost, seeOther } from "../../form-request.ts";

export async function POST(request: Request): Promise<Response> {
  const fields = await readPost(request);
  if (fields instanceof Response) return fields;
  const { assets } = pageContext().services;
  const schematicId = fields.get("schematic") ?? "";
  const version = fields.get("version") ?? "";
  const path = fields.get("path") ?? "";
  try {
    const resolved = await assets.resolve({ schematicId, version, path });
    if (assets.inline(resolved) !== null)
      return seeOther(`/image/${schematicId}/${resolved.version}/${path}`);
    const requestId = request.headers.get("x-request-id") ?? "";
    const build = await assets.start(resolved, { requestId, again: fields.get("again") === "1" });
    return seeOther(`/builds/${build.id}${knowingQuery({ schematicId, schematicHidden: false })}`);
  } catch (error) {
    // The page of the schematic says of each file why it cannot be had.
    if (isAppError(error) && error.status < 500)
      return seeOther(`/schematics/${encodeURIComponent(schematicId)}?${new URLSearchParams({ version })}`);
    throw error;
  }
}
