/** Whether the person behind a page request may change own sources: told by the cookie of a sign-in. */
import { cookies } from "next/headers";
import { isAppError } from "../../lib/errors/is-app-error.ts";
import { pageContext } from "../../lib/services/current.ts";
import type { OwnSourceService } from "../../lib/services/own/contracts.ts";
import { readPost, seeOther } from "../form-request.ts";

const ADMIN_COOKIE = "administrator";
/** Longer than its ticket is good, so that a page can say that it has run out. */
const KEPT_SECONDS = 7 * 24 * 60 * 60;

/** A Set-Cookie value with what this browser keeps of a sign-in; null forgets it. */
export function adminCookie(ticket: string | null): string {
  const secure = pageContext().publicUrl.startsWith("https:") ? "; Secure" : "";
  const seconds = ticket === null ? 0 : KEPT_SECONDS;
  return `${ADMIN_COOKIE}=${ticket ?? ""}; Path=/extensions; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
}

const givenTicket = async (): Promise<string | null> => (await cookies()).get(ADMIN_COOKIE)?.value ?? null;

/** True when changes are allowed to whoever sent this request. */
export async function mayChange(): Promise<boolean> {
  return pageContext().services.own.access.mayWithTicket(await givenTicket());
}

/** True when the sign-in of this browser has run out. */
export async function hasExpired(): Promise<boolean> {
  return pageContext().services.own.access.hasExpired(await givenTicket());
}

/** Why changes are not allowed. */
export const missingRight = async (): Promise<"expired" | "sign-in"> =>
  (await hasExpired()) ? "expired" : "sign-in";

/** Holds the words of the last refusal for the page that comes next; an address could be made by anybody. */
const REFUSAL_COOKIE = "refusal";
const REFUSAL_SECONDS = 60;
const MOST_WORDS = 1_000;

/** The words of the last refusal, for the page that it led back to. */
export const lastRefusal = async (): Promise<string | null> =>
  (await cookies()).get(REFUSAL_COOKIE)?.value ?? null;

/**
 * A post that changes something: reads the form, asks for permission, does the work, goes on to the path it gives. What is
 * refused leads back with a word in the address, and its sentence in a cookie.
 */
export async function changing(
  request: Request,
  back: string,
  work: (own: OwnSourceService, fields: URLSearchParams) => Promise<string>,
): Promise<Response> {
  const fields = await readPost(request);
  if (fields instanceof Response) return fields;
  if (!(await mayChange())) return seeOther(`${back}?problem=${await missingRight()}`);
  try {
    return seeOther(await work(pageContext().services.own, fields));
  } catch (error) {
    if (!isAppError(error)) throw error;
    const hint = error.extra.hint === undefined ? "" : ` ${error.extra.hint}`;
    const words = encodeURIComponent(`${error.message}.${hint}`.slice(0, MOST_WORDS));
    const rules = `Path=/extensions; Max-Age=${REFUSAL_SECONDS}; HttpOnly; SameSite=Strict`;
    return seeOther(`${back}?problem=refused`, { "Set-Cookie": `${REFUSAL_COOKIE}=${words}; ${rules}` });
  }
}
