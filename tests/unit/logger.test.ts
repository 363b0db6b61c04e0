/** Log lines: one JSON object each, with no secret in it. */
import { expect, it } from "vitest";
import { createLogger, withoutCredentials } from "../../lib/log/logger.ts";

function capture() {
  const lines: string[] = [];
  const log = createLogger({
    process: "test",
    level: "info",
    destination: { write: (line) => lines.push(line) },
  });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? "{}") };
}

it("writes one JSON line with level, time, process and the child's fields", () => {
  const { log, lines, last } = capture();
  log.child({ requestId: "r1" }).info({ bytes: 3 }, "asset served");
  log.debug("not written");
  expect(lines).toHaveLength(1);
  expect(last()).toMatchObject({
    level: "info",
    process: "test",
    requestId: "r1",
    bytes: 3,
    msg: "asset served",
  });
  expect(Date.parse(last().time)).toBeGreaterThan(0);
});

it("hides secrets at the top, in headers and deeper", () => {
  const { log, lines } = capture();
  log.info(
    { authorization: "Bearer s3cret", headers: { authorization: "Basic s3cret", cookie: "s3cret" } },
    "a",
  );
  log.info({ source: { auth: { password: "s3cret", token: "s3cret" } }, embeddedConfig: "s3cret" }, "b");
  log.info({ request: { headers: { "set-cookie": "s3cret" } } }, "c");
  expect(lines.join("")).not.toContain("s3cret");
  expect(lines.join("")).toContain("[secret]");
});

it("keeps addresses, without user name and password", () => {
  const { log, last } = capture();
  log.info({ url: "postgresql://me:s3cret@db:5432/x" }, "connected");
  expect(last().url).toBe("postgresql://…@db:5432/x");
  expect(withoutCredentials("http://host/path@x")).toBe("http://host/path@x");
});

it("gives the error with its stack", () => {
  const { log, last } = capture();
  log.error({ err: new Error("broken") }, "request failed");
  expect(last().err).toMatchObject({ type: "Error", message: "broken" });
});
