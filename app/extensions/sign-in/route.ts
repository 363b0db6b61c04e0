/** POST /extensions/sign-in: trades the administrator's token for a cookie of this browser. */
import { pageContext } from "../../../lib/services/current.ts";
import { readPost, seeOther } from "../../form-request.ts";
import { adminCookie } from "../page-access.ts";

export async function POST(request: Request): Promise<Response> {
  const fields = await readPost(request);
  if (fields instanceof Response) return fields;
  const ticket = pageContext().services.own.access.ticket(fields.get("token"));
  if (ticket === null) return seeOther("/extensions?problem=token");
  return seeOther("/extensions", { "Set-Cookie": adminCookie(ticket) });
}
