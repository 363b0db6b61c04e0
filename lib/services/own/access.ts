/** Who may bring extensions of their own. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { AppError } from "../../errors/app-error.ts";
import type { OwnAccess, OwnMode } from "./contracts.ts";

/** How long a browser may change things after a sign-in. */
export const TICKET_MS = 12 * 60 * 60_000;

const TICKET = /^(\d{1,15})\.([0-9a-f]{64})$/;

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** What a browser keeps instead of the token: good until that time for the pages of this factory, and for nothing else. */
const ticketUntil = (token: string, until: number): string =>
  `${until}.${createHmac("sha256", token).update(`casthouse pages\n${until}`).digest("hex")}`;

/** The rule of this factory; `token` is what administrators send, null when there is none. */
export function createOwnAccess(mode: OwnMode, token: string | null, now: () => number): OwnAccess {
  const expected = token === null ? null : digest(token);
  const may = (given: string | null): boolean => {
    if (mode !== "admin") return mode === "everyone";
    return given !== null && expected !== null && timingSafeEqual(digest(given), expected);
  };
  /** When it ends; null when it was not given away here, or under another token. */
  const endOf = (ticket: string | null): number | null => {
    const [, until] = TICKET.exec(ticket ?? "") ?? [];
    if (mode !== "admin" || token === null || ticket === null || until === undefined) return null;
    const good = timingSafeEqual(digest(ticket), digest(ticketUntil(token, Number(until))));
    return good ? Number(until) : null;
  };
  return {
    mode,
    may,
    mayWithTicket: (ticket) => mode === "everyone" || (endOf(ticket) ?? 0) > now(),
    hasExpired(ticket) {
      const end = endOf(ticket);
      return end !== null && end <= now();
    },
    ticket: (given) =>
      mode === "admin" && may(given) && token !== null ? ticketUntil(token, now() + TICKET_MS) : null,
    require(given) {
      if (may(given)) return;
      if (mode === "off")
        throw new AppError("forbidden", "This factory takes no own extensions", {
          hint: "The operator can allow them with OWN_EXTENSIONS.",
          retryable: false,
        });
      throw new AppError(
        "unauthenticated",
        "Own extensions can only be changed with the administrator's token",
        {
          hint: "Send it as Authorization: Bearer <token>; the operator set it as ADMIN_TOKEN.",
          retryable: false,
        },
      );
    },
  };
}
