/** Log lines: one JSON object each, with no secret in it. */
import { expect, it } from "vitest";
import { canonicalSchematic } from "../../../lib/domain/schematic-canonical.ts";
import { idOfText } from "../../../lib/domain/schematic-id.ts";
import { parseSchematic } from "../../../lib/domain/schematic-parse.ts";
import { createLogger, withoutCredentials } from "../../../lib/log/logger.ts";
import type { StoredSchematic } from "../../../lib/services/contracts.ts";

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

it("hides a machine configuration wherever it travels", () => {
  const { log, lines } = capture();
  const schematic = parseSchematic("customization: {embeddedMachineConfiguration: 's3cret'}");
  const canonical = canonicalSchematic(schematic);
  const stored: StoredSchematic = { id: idOfText(canonical), canonical, schematic };
  const recipe = { machineConfiguration: "s3cret", schematicText: canonical };
  const step = { op: "embedded-config", params: { config: "s3cret" } };
  const row = { id: "1", plan: { steps: [step] } };
  for (const fields of [{ schematic }, stored, { stored }, { recipe }, { step }, { row }, { build: { row } }])
    log.info(fields, "x");
  expect(canonical).toContain("s3cret");
  expect(lines).toHaveLength(7);
  expect(lines.join("")).not.toContain("s3cret");
  expect(lines.join("")).toContain(stored.id);
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
