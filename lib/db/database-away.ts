/** Tells a database that does not answer from any other failure of a query. */

/** Codes of Prisma: not reachable, timed out, no connection free, connection closed. */
const PRISMA = new Set(["P1001", "P1002", "P1008", "P1017", "P2024"]);
/** Kinds of the driver adapter, which are all that raw queries carry. */
const DRIVER = new Set(["DatabaseNotReachable", "ConnectionClosed", "SocketTimeout", "TooManyConnections"]);
/** Postgres, appendix A: starting, shutting down, crashed, connection lost (class 08). */
const POSTGRES = /^(57P0[1-5]|08\w{3})$/;
/** What the pool says when a connection breaks or none can be had; it has no codes. */
const POOL =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/;

/** True when the same query may succeed in a moment, as soon as Postgres is back. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("code" in error && (PRISMA.has(String(error.code)) || POSTGRES.test(String(error.code)))) return true;
  const cause = memberOf(memberOf(memberOf(error, "meta"), "driverAdapterError"), "cause");
  if (DRIVER.has(String(memberOf(cause, "kind")))) return true;
  return POSTGRES.test(String(memberOf(cause, "originalCode"))) || POOL.test(error.message);
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && name in value
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined;
}
