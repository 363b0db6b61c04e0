/**
 * Proves that no request, however bad, gets a 5xx or harms the factory: each of the table gets its status and its words,
 * and the factory answers others right after it.
 */
import { createConnection } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestFactory, type TestFactory } from "../fixtures/factory.ts";
import { exchangeBytes, parseReply, type RawReply, requestBytes } from "../fixtures/raw-http.ts";
import { BAD_REQUESTS, type BadRequest, EMPTY } from "../fixtures/refusals-table.ts";
import { vectorFile } from "../fixtures/vector-files.ts";

type Text = string | (string | [string, number])[];

interface HostileRequest {
  title: string;
  raw?: Text;
  method?: string;
  target?: Text;
  body?: Text;
  headers?: Record<string, Text>;
  status: number;
  /** Beginning of the body. */
  reply: string;
}

const joined = (text: Text): string =>
  typeof text === "string"
    ? text
    : text.map((part) => (typeof part === "string" ? part : part[0].repeat(part[1]))).join("");

function badRequest(request: HostileRequest): BadRequest {
  const { title, raw, method, target, body, headers, status, reply } = request;
  const literal = reply.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return {
    ...{ title, status, reply: new RegExp(`^${literal}`) },
    ...(raw === undefined ? {} : { raw: joined(raw) }),
    ...(method === undefined ? {} : { method }),
    ...(target === undefined ? {} : { target: joined(target) }),
    ...(body === undefined || body === null ? {} : { body: joined(body) }),
    ...(headers
      ? { headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, joined(value)])) }
      : {}),
  };
}

const REQUESTS = [
  ...BAD_REQUESTS,
  ...vectorFile<{ requests: HostileRequest[] }>("hostile-requests.json").requests.map(badRequest),
];

let factory: TestFactory;

beforeAll(async () => {
  factory = await startTestFactory();
  await factory.schematic("customization: {}\n");
}, 300_000);

afterAll(() => factory?.stop());

async function expectAlive(): Promise<void> {
  const started = Date.now();
  expect((await fetch(`${factory.url}/healthz`)).status).toBe(200);
  expect(Date.now() - started).toBeLessThan(2_000);
}

function bytesOf({ raw, method = "GET", target = "/", headers = {}, body }: BadRequest): Buffer {
  if (raw !== undefined) return Buffer.from(raw, "latin1");
  const request = body === undefined ? {} : { body: Buffer.from(body, "latin1") };
  return requestBytes({ method, target, headers, ...request }, "factory.test");
}

async function send(request: BadRequest): Promise<RawReply> {
  const bytes = await exchangeBytes(factory.url, bytesOf(request));
  // A second status line would be the answer to a request that was smuggled in.
  expect(bytes.toString("latin1").match(/HTTP\/1\.1 \d{3} /g)).toHaveLength(1);
  const reply = parseReply(bytes, request.method);
  if (reply === null) throw new Error("cut off without a reply");
  return reply;
}

test("the table is as large as it says", () => {
  expect(REQUESTS.length).toBeGreaterThanOrEqual(80);
  expect(REQUESTS.filter((request) => request.status >= 500)).toEqual([]);
  expect(new Set(BAD_REQUESTS.map((request) => request.title)).size).toBe(BAD_REQUESTS.length);
});

test.each(REQUESTS.map((request) => [request.title, request.status, request] as const))(
  "%s gets %i",
  async (_title, status, request) => {
    const reply = await send(request);
    const text = reply.body.toString();
    expect({ status: reply.status, text: text.slice(0, 2_000) }).toEqual({
      status,
      text: expect.stringMatching(request.reply),
    });
    expect(text).not.toMatch(/\n {4}at |root:x:0|node_modules/);
    expect(reply.headers["set-cookie"]).toBeUndefined();
    await expectAlive();
  },
);

test("junk behind a good request does not reach anybody, and the good one is answered", async () => {
  const good = `GET /versions HTTP/1.1\r\nHost: factory.test\r\n\r\n`;
  const bytes = await exchangeBytes(factory.url, Buffer.from(`${good}\u0000\u0001junk\r\n\r\n`, "latin1"));
  const first = parseReply(bytes);
  const second = first && first.rest.length > 0 ? parseReply(first.rest) : null;
  // The parser may see the junk before the answer is out; both orders are honest, a mixture is not.
  if (first?.status === 200) {
    expect(first.body.toString()).toContain("v1.13.2");
    expect(second === null || second.status === 400).toBe(true);
  } else expect(first).toMatchObject({ status: 400 });
  await expectAlive();
});

test("a request that drips in is ended after ten seconds, and many such do not stop others", async () => {
  const started = Date.now();
  const slow = Array.from({ length: 100 }, () =>
    exchangeBytes(
      factory.url,
      ["GET /versions HTTP/1.1\r\n", "X-A: b\r\n", "X-B: c\r\n", "X-C: d\r\n"].map((line) =>
        Buffer.from(line),
      ),
      { pauseMs: 1_500, timeoutMs: 30_000 },
    ),
  );
  await expectAlive();
  for (const bytes of await Promise.all(slow)) {
    const reply = parseReply(bytes);
    expect(reply?.status).toBe(408);
    expect(reply?.body.toString()).toBe("the request did not arrive in time\n");
  }
  expect(Date.now() - started).toBeLessThan(25_000);
  await expectAlive();
});

test("clients that leave in the middle of everything harm nobody", async () => {
  const request = requestBytes(
    { method: "GET", target: `/image/${EMPTY}/v1.13.2/kernel-amd64` },
    "factory.test",
  );
  const { hostname, port } = new URL(factory.url);
  const leave = (bytes: Buffer) =>
    new Promise<void>((resolve) => {
      const socket = createConnection({ host: hostname, port: Number(port) }, () => {
        socket.write(bytes, () => socket.resetAndDestroy());
      });
      socket.on("error", () => undefined);
      socket.once("close", () => resolve());
    });
  const cuts = Array.from({ length: 50 }, (_, i) =>
    request.subarray(0, Math.ceil((request.length * (i + 1)) / 50)),
  );
  await Promise.all(cuts.map(leave));
  await expectAlive();
});

test("after all of this the factory works and nothing leaked from one request into another", async () => {
  const reply = await fetch(`${factory.url}/schematics`, { method: "POST", body: "customization: {}\n" });
  expect(await reply.json()).toEqual({ id: EMPTY, schematic: "customization: {}\n" });
  const cmdline = await fetch(`${factory.url}/image/${EMPTY}/v1.13.2/cmdline-metal-amd64`);
  expect(await cmdline.text()).toMatch(/^talos\.platform=metal /);
});
