/** Makes load over HTTP/1.1 with as little work per request as possible, so that the server is what is measured. */
import { connect } from "node:net";

export interface LoadOptions {
  url: URL;
  connections: number;
  seconds: number;
  /** The whole request, head and body; `serial` is different for every call. */
  request: (serial: number) => string;
  /** Status that counts as success. */
  expect: number;
}

export interface LoadResult {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  failures: number;
}

/** Each connection sends its next request when the last one is answered. */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const latencies: number[] = [];
  let failures = 0;
  const seconds = await keepAsking(options, ({ status }, ms) => {
    latencies.push(ms);
    if (status !== options.expect) failures += 1;
  });
  latencies.sort((a, b) => a - b);
  const quantile = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
  return { perSecond: latencies.length / seconds, p50Ms: quantile(0.5), p99Ms: quantile(0.99), failures };
}

/** MB/s of downloads that follow each other on every connection, over all of them. */
export async function downloadRate(options: Omit<LoadOptions, "expect">): Promise<number> {
  let total = 0;
  const seconds = await keepAsking(options, ({ status, bytes }) => {
    if (status !== 200) throw new Error(`the download answered ${status}`);
    total += bytes;
  });
  return total / 1e6 / seconds;
}

/** Asks on all connections until the time is over; gives the seconds it took in the end. */
async function keepAsking(
  options: Omit<LoadOptions, "expect">,
  onReply: (reply: Reply, ms: number) => void,
): Promise<number> {
  let serial = 0;
  const started = performance.now();
  const end = started + options.seconds * 1000;
  const one = async (): Promise<void> => {
    const client = await openClient(options.url);
    try {
      while (performance.now() < end) {
        const sent = performance.now();
        const reply = await client.ask(options.request(serial++));
        onReply(reply, performance.now() - sent);
      }
    } finally {
      client.close();
    }
  };
  await Promise.all(Array.from({ length: options.connections }, one));
  return (performance.now() - started) / 1000;
}

interface Reply {
  status: number;
  /** Length of the body. */
  bytes: number;
}

interface Client {
  ask(request: string): Promise<Reply>;
  close(): void;
}

/** One connection that reads replies with Content-Length and throws their bodies away. */
function openClient(url: URL): Promise<Client> {
  return new Promise((resolve, reject) => {
    const buffer = Buffer.alloc(256 * 1024);
    let settle: { resolve: (reply: Reply) => void; reject: (error: Error) => void } | null = null;
    const take = replyReader((reply) => settle?.resolve(reply));
    const fail = (error: Error): void => {
      reject(error);
      settle?.reject(error);
    };
    const callback = (size: number): boolean => {
      take(buffer.subarray(0, size));
      return true;
    };
    const { hostname: host, port } = url;
    const socket = connect({ host, port: Number(port), noDelay: true, onread: { buffer, callback } });
    socket.once("error", fail);
    socket.once("close", () => fail(new Error("the server closed the connection")));
    socket.once("connect", () =>
      resolve({
        ask: (request) =>
          new Promise((done, failed) => {
            settle = { resolve: done, reject: failed };
            socket.write(request);
          }),
        close: () => socket.destroy(),
      }),
    );
  });
}

/** Takes what arrives, piece by piece, and says when a reply is whole. */
function replyReader(onReply: (reply: Reply) => void): (piece: Buffer) => void {
  let head = "";
  let reply: Reply | null = null;
  let left = 0;
  return (piece) => {
    let body = piece.length;
    if (reply === null) {
      const before = head.length;
      head += piece.toString("latin1");
      const headEnd = head.indexOf("\r\n\r\n");
      if (headEnd < 0) return;
      reply = readHead(head.slice(0, headEnd));
      left = reply.bytes;
      body = before + piece.length - headEnd - 4;
      head = "";
    }
    left -= body;
    if (left > 0) return;
    const done = reply;
    reply = null;
    onReply(done);
  };
}

function readHead(head: string): Reply {
  const status = Number(head.slice(9, 12));
  const length = /\r\ncontent-length: *(\d+)/i.exec(head);
  if (length === null) throw new Error(`a reply without Content-Length: ${head}`);
  return { status, bytes: Number(length[1]) };
}
