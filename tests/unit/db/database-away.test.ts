import { describe, expect, it } from "vitest";
import { isDatabaseAway } from "../../../lib/db/database-away.ts";
import { AppError } from "../../../lib/errors/app-error.ts";
import { nameFailure } from "../../../lib/services/failures.ts";

const failure = (message: string, members: object = {}) => Object.assign(new Error(message), members);
const driver = (cause: object) => ({ meta: { driverAdapterError: { name: "DriverAdapterError", cause } } });

describe("a database that is away", () => {
  it.each([
    ["by Prisma's code", failure("x", { code: "P1001" })],
    ["in a raw query", failure("x", { code: "P2010", ...driver({ kind: "DatabaseNotReachable" }) })],
    [
      "while it shuts down",
      failure("x", { code: "P2010", ...driver({ kind: "postgres", originalCode: "57P01" }) }),
    ],
    ["while it starts", failure("the database system is starting up", { code: "57P03" })],
    ["when the connection breaks", failure("Connection terminated unexpectedly")],
  ])("is told %s", (_name, error) => {
    expect(isDatabaseAway(error)).toBe(true);
    expect(nameFailure(error)).toMatchObject({
      code: "upstream_unavailable",
      status: 503,
      extra: { cause: error },
    });
  });

  it.each([
    ["a broken rule", failure("x", { code: "P2002", ...driver({ kind: "UniqueConstraintViolation" }) })],
    [
      "a wrong query",
      failure("x", { code: "P2010", ...driver({ kind: "postgres", originalCode: "42P01" }) }),
    ],
    ["a refusal of ours", new AppError("not_found", "Connection terminated")],
    ["something thrown that is no error", "P1001"],
  ])("is not %s", (_name, error) => {
    expect(nameFailure(error)).toBe(error);
  });
});
