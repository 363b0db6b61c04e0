/** What the form handlers share: reading a post, refusing foreign sites, answering with a way on. */

/** The fields of a form post, or null when the request was made by another site. */
export async function readPost(request: Request): Promise<URLSearchParams | null> {
  if (request.headers.get("sec-fetch-site") === "cross-site") return null;
  const data = await request.formData();
  const fields = new URLSearchParams();
  for (const [name, value] of data) if (typeof value === "string") fields.append(name, value);
  return fields;
}

/** 303 (RFC 9110 section 15.4.4) to a path of this site. */
export function seeOther(path: string, headers: Record<string, string> = {}): Response {
  return new Response(null, {
    status: 303,
    headers: { Location: path, "Cache-Control": "no-store", ...headers },
  });
}

export const refuseForeign = (): Response =>
  new Response("This form was posted by another site.\n", {
    status: 403,
    headers: { "Content-Type": "text/plain" },
  });

/** A path of this site out of a form field; "/" for everything else, so that nobody is led away. */
export const localPath = (text: string | null): string =>
  text !== null && /^\/(?![/\\])[^\s\\]*$/.test(text) ? text : "/";

/** A Set-Cookie value that lives for a year. */
export const yearCookie = (name: string, value: string, seconds: number): string =>
  `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax`;
