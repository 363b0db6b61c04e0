/** Bodies may take as long as they need while they keep coming. */
import { once } from "node:events";
import { type AddressInfo, createConnection } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHttpServer } from "../../../lib/http/server.ts";

const EVERY_MS = 1_200;
let release: () => void = () => undefined;
const server = createHttpServer(
  async (req, res) => {
    if (req.url === "/busy") await new Promise<void>((resolve) => (release = resolve));
    let bytes = 0;
    try {
      for await (const chunk of req) bytes += chunk.length;
      res.end(String(bytes));
    } catch {
      res.destroy();
    }
  },
  { everyMs: EVERY_MS, bytes: 1_000 },
);

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

interface Sent {
  path?: string;
  length: number;
  /** Pieces of the body, each with the time before it. */
  pieces: readonly (readonly [beforeMs: number, bytes: number])[];
}

async function send({ path = "/", length, pieces }: Sent): Promise<string> {
  const { port } = server.address() as AddressInfo;
  const socket = createConnection({ port, host: "127.0.0.1" });
  let reply = "";
  socket.on("data", (bytes) => (reply += bytes.toString()));
  const ended = once(socket, "close");
  socket.on("error", () => undefined);
  socket.write(`PUT ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`);
  for (const [beforeMs, bytes] of pieces) {
    if (beforeMs > 0) await pause(beforeMs);
    socket.write(Buffer.alloc(bytes));
  }
  await ended;
  return reply;
}

const repeat = (count: number, beforeMs: number, bytes: number) =>
  Array.from({ length: count }, () => [beforeMs, bytes] as const);

test("a slow body that keeps coming is taken, however long it takes", async () => {
  const reply = await send({ length: 50 * 4_000, pieces: repeat(50, 100, 4_000) });
  expect(reply).toMatch(/^HTTP\/1\.1 200 .*200000$/s);
});

test("a body that stops is answered with 408, and the connection ends", async () => {
  const reply = await send({ length: 10_000, pieces: [[0, 5_000]] });
  expect(reply).toMatch(/^HTTP\/1\.1 408 .*the request did not arrive in time\n$/s);
});

test("a body in drops is answered with 408", async () => {
  const reply = await send({ length: 10_000, pieces: repeat(40, 100, 1) });
  expect(reply).toMatch(/^HTTP\/1\.1 408 /);
});

test("a sender is not blamed for bytes that wait here", async () => {
  const sent = send({ path: "/busy", length: 3_000_000, pieces: [[0, 3_000_000]] });
  await pause(3 * EVERY_MS);
  release();
  expect(await sent).toMatch(/^HTTP\/1\.1 200 .*3000000$/s);
});
