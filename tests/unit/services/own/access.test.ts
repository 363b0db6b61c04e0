/** Who may change own sources, and what a browser keeps instead of the token. */
import { expect, it } from "vitest";
import { createOwnAccess, TICKET_MS } from "../../../../lib/services/own/access.ts";

const TOKEN = "0123456789abcdef";

const accessOf = (mode: "off" | "admin" | "everyone", token: string | null, now = () => 0) =>
  createOwnAccess(mode, token, now);

it.each([
  ["off", null, false],
  ["off", TOKEN, false],
  ["everyone", null, true],
  ["admin", null, false],
  ["admin", "", false],
  ["admin", `${TOKEN}x`, false],
  ["admin", TOKEN, true],
] as const)("in mode %s the token %j may: %s", (mode, given, allowed) => {
  const access = accessOf(mode, TOKEN);
  expect(access.may(given)).toBe(allowed);
  if (allowed) expect(() => access.require(given)).not.toThrow();
  else expect(() => access.require(given)).toThrow(mode === "off" ? "takes no own" : "administrator's token");
});

it("lets nobody in where there is no token", () => {
  const access = accessOf("admin", null);
  expect([null, "", "null"].map((given) => access.may(given))).toEqual([false, false, false]);
  expect([null, "", "null"].map((given) => access.mayWithTicket(given))).toEqual([false, false, false]);
});

it("gives a browser a ticket that is not the token, good for pages and not for the API", () => {
  const access = accessOf("admin", TOKEN);
  const ticket = access.ticket(TOKEN);
  expect(ticket).toMatch(/^\d+\.[0-9a-f]{64}$/);
  expect(access.mayWithTicket(ticket)).toBe(true);
  expect(access.may(ticket)).toBe(false);
  expect(access.mayWithTicket(TOKEN)).toBe(false);
  expect(access.ticket("wrong")).toBeNull();
  expect(accessOf("admin", "another-token-0123").mayWithTicket(ticket)).toBe(false);
});

it("gives a ticket that runs out, says so, and whose end nobody can move", () => {
  let now = 1_000;
  const access = accessOf("admin", TOKEN, () => now);
  const ticket = access.ticket(TOKEN) ?? "";
  now += TICKET_MS - 1;
  expect([access.mayWithTicket(ticket), access.hasExpired(ticket)]).toEqual([true, false]);
  now += 1;
  expect([access.mayWithTicket(ticket), access.hasExpired(ticket)]).toEqual([false, true]);
  const [until = "", seal] = ticket.split(".");
  for (const forged of [
    `${Number(until) + 1}.${seal}`,
    `0${until}.${seal}`,
    `${until}.${seal}0`,
    `.${seal}`,
    seal,
  ])
    expect([forged, access.mayWithTicket(forged ?? null), access.hasExpired(forged ?? null)]).toEqual([
      forged,
      false,
      false,
    ]);
  expect(access.ticket(TOKEN)).not.toBe(ticket);
});

it.each(["off", "everyone"] as const)("gives no ticket in mode %s", (mode) => {
  const ticket = accessOf("admin", TOKEN).ticket(TOKEN);
  const access = accessOf(mode, TOKEN);
  expect([access.ticket(TOKEN), access.hasExpired(ticket), access.mayWithTicket(ticket)]).toEqual([
    null,
    false,
    mode === "everyone",
  ]);
});
