/** POST /theme: remembers light or dark and goes back to where the person was. */
import { localPath, readPost, seeOther, yearCookie } from "../form-request.ts";
import { ONE_YEAR_SECONDS, THEME_COOKIE } from "../request-names.ts";

export async function POST(request: Request): Promise<Response> {
  const fields = await readPost(request);
  if (fields instanceof Response) return fields;
  const theme = ["light", "dark"].find((known) => known === fields.get("theme"));
  const back = localPath(fields.get("back"));
  if (theme === undefined) return seeOther(back);
  return seeOther(back, { "Set-Cookie": yearCookie(THEME_COOKIE, theme, ONE_YEAR_SECONDS) });
}
