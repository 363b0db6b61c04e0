/** Runs before every page: takes `?lang` out of the query, remembers it, and tells the page its own path. */
import { type NextRequest, NextResponse } from "next/server";
import { LANGUAGE_COOKIE, LANGUAGE_HEADER, ONE_YEAR_SECONDS, PATH_HEADER } from "./app/request-names.ts";
import { LANGUAGES } from "./components/words/translator.ts";

/** Next keeps the whole body of what it shows to the proxy, and cuts it at 10 MiB: uploads go past it. */
export const config = { matcher: ["/((?!_next/|extensions/upload/|icon\\.svg|favicon\\.ico).*)"] };

export function proxy(request: NextRequest): NextResponse {
  const url = new URL(request.url);
  const wanted = LANGUAGES.find((language) => language === url.searchParams.get("lang"));
  url.searchParams.delete("lang");
  url.searchParams.delete("_rsc");
  const headers = new Headers(request.headers);
  headers.set(PATH_HEADER, url.pathname + url.search);
  headers.delete(LANGUAGE_HEADER);
  if (wanted) headers.set(LANGUAGE_HEADER, wanted);
  const response = NextResponse.next({ request: { headers } });
  if (wanted) {
    const options = { path: "/", maxAge: ONE_YEAR_SECONDS, httpOnly: true, sameSite: "lax" } as const;
    response.cookies.set(LANGUAGE_COOKIE, wanted, options);
  }
  return response;
}
