/** Reading a form post: its fields, or the refusal to answer with. */
import { expect, test } from "vitest";
import { readPost } from "../../../app/form-request.ts";

const post = (body: BodyInit | null, headers: Record<string, string> = {}) =>
  readPost(
    new Request("http://factory.lan/create", {
      method: "POST",
      body,
      headers,
      duplex: "half",
    } as RequestInit),
  );
const statusOf = (answer: URLSearchParams | Response) => (answer instanceof Response ? answer.status : 200);

test("gives the fields of both encodings", async () => {
  expect(String(await post(new URLSearchParams({ a: "1 2", b: "é" })))).toBe("a=1+2&b=%C3%A9");
  const form = new FormData();
  form.append("a", "1 2");
  expect(String(await post(form))).toBe("a=1+2");
});

test("takes a form without fields", async () => {
  expect(String(await post("", { "Content-Type": "application/x-www-form-urlencoded" }))).toBe("");
});

test("refuses another site, and what is no form", async () => {
  expect(statusOf(await post(new URLSearchParams({ a: "1" }), { "Sec-Fetch-Site": "cross-site" }))).toBe(403);
  expect(statusOf(await post("{}", { "Content-Type": "application/json" }))).toBe(400);
});

test("stops reading above the limit, with and without a stated length", async () => {
  let sent = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 65_536;
      controller.enqueue(new Uint8Array(65_536));
    },
  });
  const type = { "Content-Type": "application/x-www-form-urlencoded" };
  expect(statusOf(await post(endless, type))).toBe(413);
  expect(sent).toBeLessThan(5 * 1024 * 1024);
  expect(statusOf(await post("a=1", { ...type, "Content-Length": "99999999" }))).toBe(413);
});
