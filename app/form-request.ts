/** What the form handlers share: reading a post, refusing foreign sites, answering with a way on. */

/** A form holds a schematic of up to 1 MiB, and its encoding may write each byte as three. */
const MOST_BYTES = 4 * 1024 * 1024;

const refuse = (status: number, text: string): Response =>
  new Response(`${text}\n`, { status, headers: { "Content-Type": "text/plain" } });

/** The body, or null when it is larger than a form may be; counted while it arrives. */
async function readLimited(request: Request): Promise<Uint8Array | null> {
  if (Number(request.headers.get("content-length") ?? 0) > MOST_BYTES) return null;
  const reader = request.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  const parts: Uint8Array[] = [];
  let size = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    size += part.value.byteLength;
    if (size > MOST_BYTES) {
      await reader.cancel();
      return null;
    }
    parts.push(part.value);
  }
  return Buffer.concat(parts, size);
}

/** The fields of a form post, or the refusal to answer with: made by another site, too large, or no form. */
export async function readPost(request: Request): Promise<URLSearchParams | Response> {
  if (request.headers.get("sec-fetch-site") === "cross-site")
    return refuse(403, "This form was posted by another site.");
  const body = await readLimited(request);
  if (body === null) return refuse(413, `This form is larger than ${MOST_BYTES} bytes.`);
  const headers = { "Content-Type": request.headers.get("content-type") ?? "" };
  const data = await new Response(new Uint8Array(body), { headers }).formData().catch(() => null);
  if (data === null) return refuse(400, "This is not a form.");
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

/** A path of this site out of a form field; "/" for everything else, so that nobody is led away. */
export const localPath = (text: string | null): string =>
  text !== null && /^\/(?![/\\])[^\s\\]*$/.test(text) ? text : "/";

/** A Set-Cookie value that lives for a year. */
export const yearCookie = (name: string, value: string, seconds: number): string =>
  `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax`;
