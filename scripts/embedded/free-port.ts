/** Loopback ports: finding a free one, waiting until somebody listens. */
import { createConnection, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A TCP port of 127.0.0.1 that was free a moment ago. */
export function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() =>
        typeof address === "object" && address ? resolve(address.port) : reject(new Error("no port")),
      );
    });
  });
}

/** True when something accepts connections there. */
export function isListening(port: number, host = "127.0.0.1"): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host, timeout: 1_000 });
    const done = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.once("connect", () => done(true));
    socket.once("error", () => done(false));
    socket.once("timeout", () => done(false));
  });
}

/** Calls `ready` every few milliseconds until it gives true; fails after the given time or when `stopped` says why. */
export async function waitUntil(
  what: string,
  ready: () => Promise<boolean>,
  timeoutMs: number,
  stopped: () => string | undefined = () => undefined,
): Promise<void> {
  const end = Date.now() + timeoutMs;
  while (!(await ready())) {
    const why = stopped();
    if (why !== undefined) throw new Error(`${what} did not start: ${why}`);
    if (Date.now() > end) throw new Error(`${what} was not ready within ${timeoutMs / 1000} s`);
    await sleep(20);
  }
}
