/** POST /extensions/sign-out: this browser forgets its sign-in. */
import { readPost, seeOther } from "../../form-request.ts";
import { adminCookie } from "../page-access.ts";

export async function POST(request: Request): Promise<Response> {
  const fields = await readPost(request);
  if (fields instanceof Response) return fields;
  return seeOther("/extensions", { "Set-Cookie": adminCookie(null) });
}
