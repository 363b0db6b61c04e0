/** Whether the person behind a page request may change own sources: told by the cookie of a sign-in. */
import { cookies } from "next/headers";
import { isAppError } from "../../lib/errors/is-app-error.ts";
import { pageContext } from "../../lib/services/current.ts";
import type { OwnSourceService } from "../../lib/services/own-contracts.ts";
import { readPost, seeOther } from "../form-request.ts";

export const ADMIN_COOKIE = "administrator";

/** True when changes are allowed to whoever sent this request. */
export async function mayChange(): Promise<boolean> {
  const ticket = (await cookies()).get(ADMIN_COOKIE)?.value ?? null;
  return pageContext().services.own.access.mayWithTicket(ticket);
}

/**
 * A post that changes something: reads the form, asks for permission, does the work, goes on to the path it gives. What is
 * refused leads back with its words in the address, cut to a length that fits there.
 */
export async function changing(
  request: Request,
  back: string,
  work: (own: OwnSourceService, fields: URLSearchParams) => Promise<string>,
): Promise<Response> {
  const fields = await readPost(request);
  if (fields instanceof Response) return fields;
  if (!(await mayChange())) return seeOther(withProblem(back, "sign-in"));
  try {
    return seeOther(await work(pageContext().services.own, fields));
  } catch (error) {
    if (!isAppError(error)) throw error;
    const hint = error.extra.hint === undefined ? "" : ` ${error.extra.hint}`;
    return seeOther(withProblem(back, "refused", `${error.message}.${hint}`));
  }
}

const MOST_WORDS = 600;

function withProblem(path: string, problem: string, words = ""): string {
  const query = new URLSearchParams({
    problem,
    ...(words === "" ? {} : { words: words.slice(0, MOST_WORDS) }),
  });
  return `${path}?${query}`;
}
