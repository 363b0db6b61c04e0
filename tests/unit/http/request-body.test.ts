/** Bodies of the API as JSON: within a limit, and with words for what is none. */
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { readJson, readText } from "../../../api/request-body.ts";

const hint = "Send {}";
const requestOf = (chunks: string[], headers: Record<string, string> = {}) => {
  const incoming = Object.assign(Readable.from(chunks.map((chunk) => Buffer.from(chunk))), { headers });
  return { env: { incoming } } as never;
};

test("a body in pieces is one text", async () => {
  expect(await readJson(requestOf(['{"a"', ': "é', '"}']), { limitBytes: 100, hint })).toEqual({ a: "é" });
  expect(await readText(requestOf(["a: ", "b"]), { limitBytes: 100, hint })).toBe("a: b");
});

test("an empty body counts only where there may be none", async () => {
  expect(await readJson(requestOf([" \n"]), { limitBytes: 9, hint, whenEmpty: {} })).toEqual({});
  await expect(readJson(requestOf([]), { limitBytes: 9, hint })).rejects.toMatchObject({
    code: "invalid_input",
    message: "The body is not JSON",
    extra: { hint },
  });
});

test("what is no JSON is refused, empty or not", async () => {
  const reading = readJson(requestOf(["{"]), { limitBytes: 9, hint, whenEmpty: {} });
  await expect(reading).rejects.toMatchObject({ message: "The body is not JSON", extra: { hint } });
});

test.each([[{ "content-length": "10" }], [{}]])(
  "a body above the limit is refused and told what to send: %j",
  async (headers) => {
    const reading = readJson(requestOf(["12345", "67890"], headers), { limitBytes: 9, hint });
    await expect(reading).rejects.toMatchObject({ code: "too_large", extra: { hint } });
  },
);
