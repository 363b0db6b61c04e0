/** The signal that says that a client went away. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { clientSignal } from "../../../lib/http/send-bytes.ts";

/** A response whose client is still connected, and the way to make the client leave. */
async function response(): Promise<{ res: ServerResponse; leave: () => Promise<void> }> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const client = connect(port, "127.0.0.1");
  client.write("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
  const [, res]: [unknown, ServerResponse] = (await once(server, "request")) as never;
  const leave = async () => {
    const closed = once(res, "close");
    client.destroy();
    await closed;
  };
  return { res, leave };
}

test("aborts when the client leaves later", async () => {
  const { res, leave } = await response();
  const signal = clientSignal(res);
  expect(signal.aborted).toBe(false);
  await leave();
  expect(signal.reason).toMatchObject({ code: "cancelled" });
});

test("is aborted from the start when the client has left already", async () => {
  const { res, leave } = await response();
  await leave();
  expect(clientSignal(res).aborted).toBe(true);
});

test("does not abort for an answer that was sent whole", async () => {
  const { res } = await response();
  const closed = once(res, "close");
  res.end("ok");
  await closed;
  expect(clientSignal(res).aborted).toBe(false);
});
