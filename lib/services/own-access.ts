/** Who may bring extensions of their own. */
import { createHash, timingSafeEqual } from "node:crypto";
import { AppError } from "../errors/app-error.ts";
import type { OwnAccess, OwnMode } from "./own-contracts.ts";

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** What a browser keeps instead of the token: good for the pages of this factory, and for nothing else that takes the token. */
const ticketOf = (token: string): string => digest(`casthouse pages\n${token}`).toString("hex");

/** The rule of this factory; `token` is what administrators send, null when there is none. */
export function createOwnAccess(mode: OwnMode, token: string | null): OwnAccess {
  const expected = token === null ? null : digest(token);
  const may = (given: string | null): boolean => {
    if (mode !== "admin") return mode === "everyone";
    return given !== null && expected !== null && timingSafeEqual(digest(given), expected);
  };
  const ticket = token === null ? null : ticketOf(token);
  return {
    mode,
    may,
    mayWithTicket: (given) =>
      mode === "everyone" ||
      (mode === "admin" &&
        ticket !== null &&
        given !== null &&
        timingSafeEqual(digest(given), digest(ticket))),
    ticket: (given) => (may(given) && given !== null ? ticketOf(given) : null),
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
