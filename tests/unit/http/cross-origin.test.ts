/** What pages of other sites may do: read the public routes, change nothing. */
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { forbidReading } from "../../../lib/http/cross-origin.ts";
import { createFront } from "../../../lib/http/front.ts";
import { RouteTable } from "../../../lib/http/route-table.ts";

const answers = async (_: IncomingMessage, res: ServerResponse) => void res.writeHead(204).end();
const failures: unknown[] = [];
const front = createFront({
  product: "test",
  publicHost: "factory.example:8443",
  api: {
    routes: new RouteTable([
      { method: "GET", pattern: "/versions" },
      { method: "GET", pattern: "/schematics/:id" },
      { method: "POST", pattern: "/schematics" },
      { method: "GET", pattern: "/api/v1/builds" },
      { method: "POST", pattern: "/api/v1/builds" },
    ]),
    async handle(req, res) {
      if (req.url === "/schematics/secret") forbidReading(res);
      await answers(req, res);
    },
  },
  pages: {
    routes: new RouteTable([
      { method: "GET", pattern: "/builds" },
      { method: "GET", pattern: "/broken" },
      { method: "POST", pattern: "/create" },
    ]),
    async handle(req, res) {
      if (req.url === "/broken") throw new Error("the page broke");
      await answers(req, res);
    },
  },
  onFinish: () => undefined,
  onFailure: (error) => failures.push(error),
});
const server = createServer(front);

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(() => void server.close());

async function ask(method: string, path: string, headers: Record<string, string>): Promise<IncomingMessage> {
  const { port } = server.address() as AddressInfo;
  const sent = request({ port, host: "127.0.0.1", method, path, headers }).end();
  const [reply]: IncomingMessage[] = (await once(sent, "response")) as never;
  if (!reply) throw new Error("no reply");
  reply.resume();
  return reply;
}

const evil = { Origin: "http://evil.example", Host: "factory.lan" };
const allowed = async (method: string, path: string, headers: Record<string, string> = evil) =>
  (await ask(method, path, headers)).headers["access-control-allow-origin"];

test("other sites read public routes only", async () => {
  expect(await allowed("GET", "/versions")).toBe("*");
  expect(await allowed("GET", "/schematics/open")).toBe("*");
  expect(await allowed("GET", "/nope")).toBe("*");
  for (const path of ["/schematics/secret", "/api/v1/builds", "/api", "/builds", "/broken"])
    expect(await allowed("GET", path), path).toBeUndefined();
});

test("a preflight allows the same", async () => {
  const asks = { ...evil, "Access-Control-Request-Method": "GET" };
  expect(await allowed("OPTIONS", "/versions", asks)).toBe("*");
  expect(await allowed("OPTIONS", "/api/v1/builds", asks)).toBeUndefined();
  expect(
    await allowed("OPTIONS", "/schematics", { ...asks, "Access-Control-Request-Method": "POST" }),
  ).toBeUndefined();
});

test.each([
  ["another site", evil, 403],
  ["a page without an origin", { ...evil, Origin: "null" }, 403],
  ["the same host on another port", { ...evil, Origin: "http://factory.lan:8080" }, 403],
  [
    "a name that anybody may let point here",
    { Host: "evil.example:3000", Origin: "http://evil.example:3000" },
    403,
  ],
  ["a name that only ends alike", { Host: "evil-lan.example", Origin: "http://evil-lan.example" }, 403],
  ["our own page by a name at home", { ...evil, Origin: "http://factory.lan" }, 204],
  ["our own page by a name of one word", { Host: "nas:3000", Origin: "http://nas:3000" }, 204],
  ["our own page by mDNS", { Host: "nas.local:3000", Origin: "http://nas.local:3000" }, 204],
  ["our own page by address", { Host: "192.168.1.9:3000", Origin: "http://192.168.1.9:3000" }, 204],
  ["our own page by its IPv6 address", { Host: "[fd00::9]:3000", Origin: "http://[fd00::9]:3000" }, 204],
  ["another address", { Host: "192.168.1.9:3000", Origin: "http://192.168.1.8:3000" }, 403],
  ["our own page on this machine", { Host: "localhost:3000", Origin: "http://localhost:3000" }, 204],
  ["another page of this machine", { Host: "localhost:3000", Origin: "http://localhost:8080" }, 403],
  [
    "our own page under its name",
    { Host: "factory.example:8443", Origin: "http://factory.example:8443" },
    204,
  ],
  ["our own page behind a proxy", { ...evil, Origin: "https://factory.example:8443" }, 204],
  ["a program", { Host: "factory.lan" }, 204],
])("a post from %s", async (_, headers, status) => {
  expect((await ask("POST", "/create", headers)).statusCode).toBe(status);
  expect((await ask("POST", "/api/v1/builds", headers)).statusCode).toBe(status);
  expect((await ask("POST", "/schematics", headers)).statusCode).toBe(204);
});

test("a page that breaks is told of", async () => {
  failures.length = 0;
  expect((await ask("GET", "/broken", {})).statusCode).toBe(500);
  expect(failures).toEqual([expect.objectContaining({ message: "the page broke" })]);
});
