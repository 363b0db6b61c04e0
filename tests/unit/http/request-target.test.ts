/** Targets that are whole addresses, and callers without a Host header, over real sockets. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { settleTarget } from "../../../lib/http/request-target.ts";
import { exchangeBytes } from "../../fixtures/raw-http.ts";

const server = createServer((req, res) => {
  settleTarget(req, "factory.example");
  res.end(`${req.headers.host} ${req.url}`);
});

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(() => void server.close());

async function asked(request: string): Promise<string> {
  const { port } = server.address() as AddressInfo;
  const reply = await exchangeBytes(`http://127.0.0.1:${port}`, Buffer.from(request));
  return reply.toString().split("\r\n\r\n")[1] ?? "";
}
const modern = (target: string) =>
  asked(`GET ${target} HTTP/1.1\r\nHost: a.test:80\r\nConnection: close\r\n\r\n`);

test.each([
  ["/versions", "/versions"],
  ["http://a.test:80/versions?broken=true", "/versions?broken=true"],
  ["HTTPS://A.test:80//x", "//x"],
  ["http://a.test:80", "/"],
  ["http://a.test:80?x", "/?x"],
  ["http://a.test/versions", "http://a.test/versions"],
  ["http://other.test/versions", "http://other.test/versions"],
  ["http://a.test:80@other.test/", "http://a.test:80@other.test/"],
])("%s is %s", async (target, url) => {
  expect(await modern(target)).toBe(`a.test:80 ${url}`);
});

test("HTTP/1.0 without a Host header asks the factory itself", async () => {
  expect(await asked("GET /versions HTTP/1.0\r\n\r\n")).toBe("factory.example /versions");
  expect(await asked("GET /versions HTTP/1.0\r\nHost: b.test\r\n\r\n")).toBe("b.test /versions");
});
