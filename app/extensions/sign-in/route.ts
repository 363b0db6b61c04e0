/** POST /extensions/sign-in: trades the administrator's token for a cookie of this browser. */
import { pageContext } from "../../../lib/services/current.ts";
import { readPost, seeOther } from "../../form-request.ts";
import { ADMIN_COOKIE } from "../page-access.ts";

const EIGHT_HOURS_SECONDS = 8 * 60 * 60;

export async function POST(request: Request): Promise<Response> {
  const fields = await readPost(request);
  if (fields instanceof Response) return fields;
  const ticket = pageContext().services.own.access.ticket(fields.get("token"));
  if (ticket === null) return seeOther("/extensions?problem=token");
  const secure = pageContext().publicUrl.startsWith("https:") ? "; Secure" : "";
  const cookie = `${ADMIN_COOKIE}=${ticket}; Path=/extensions; Max-Age=${EIGHT_HOURS_SECONDS}; HttpOnly; SameSite=Strict${secure}`;
  return seeOther("/extensions", { "Set-Cookie": cookie });
}
