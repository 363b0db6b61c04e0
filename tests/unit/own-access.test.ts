/** Who may change own sources, and what a browser keeps instead of the token. */
import { expect, it } from "vitest";
import { createOwnAccess } from "../../lib/services/own-access.ts";

const TOKEN = "0123456789abcdef";

it.each([
  ["off", null, false],
  ["off", TOKEN, false],
  ["everyone", null, true],
  ["admin", null, false],
  ["admin", "", false],
  ["admin", `${TOKEN}x`, false],
  ["admin", TOKEN, true],
] as const)("in mode %s the token %j may: %s", (mode, given, allowed) => {
  const access = createOwnAccess(mode, TOKEN);
  expect(access.may(given)).toBe(allowed);
  if (allowed) expect(() => access.require(given)).not.toThrow();
  else expect(() => access.require(given)).toThrow(mode === "off" ? "takes no own" : "administrator's token");
});

it("lets nobody in where there is no token", () => {
  const access = createOwnAccess("admin", null);
  expect([null, "", "null"].map((given) => access.may(given))).toEqual([false, false, false]);
  expect([null, "", "null"].map((given) => access.mayWithTicket(given))).toEqual([false, false, false]);
});

it("gives a browser a ticket that is not the token, good for pages and not for the API", () => {
  const access = createOwnAccess("admin", TOKEN);
  const ticket = access.ticket(TOKEN);
  expect(ticket).toMatch(/^[0-9a-f]{64}$/);
  expect(access.mayWithTicket(ticket)).toBe(true);
  expect(access.may(ticket)).toBe(false);
  expect(access.mayWithTicket(TOKEN)).toBe(false);
  expect(access.ticket("wrong")).toBeNull();
  expect(createOwnAccess("admin", "another-token-0123").mayWithTicket(ticket)).toBe(false);
});
