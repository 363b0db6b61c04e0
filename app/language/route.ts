/** POST /language: remembers the language and goes back to where the person was. */
import { LANGUAGES } from "../../components/words/translator.ts";
import { localPath, readPost, seeOther, yearCookie } from "../form-request.ts";
import { LANGUAGE_COOKIE, ONE_YEAR_SECONDS } from "../request-names.ts";

export async function POST(request: Request): Promise<Response> {
  const fields = await readPost(request);
  if (fields instanceof Response) return fields;
  const language = LANGUAGES.find((known) => known === fields.get("lang"));
  const back = localPath(fields.get("back"));
  if (language === undefined) return seeOther(back);
  return seeOther(back, { "Set-Cookie": yearCookie(LANGUAGE_COOKIE, language, ONE_YEAR_SECONDS) });
}
