/** The web process: one HTTP server, machine API first, pages for the rest. */
import { createServer, type Server } from "node:http";
import { setFlagsFromString } from "node:v8";
import next from "next";
import { createMachineApi } from "./api/app.ts";
import { PAGE_ROUTES } from "./app/page-routes.ts";
import { loadConfigOrExit } from "./lib/config/load.ts";
import { createFront } from "./lib/http/front.ts";
import { RouteTable } from "./lib/http/route-table.ts";
import { createHttpServer } from "./lib/http/server.ts";
import { withoutRedaction } from "./lib/log/logger.ts";
import type { Runtime } from "./lib/runtime/runtime.ts";
import { createRuntimeOrExit } from "./lib/runtime/start.ts";
import { setPageContext } from "./lib/services/current.ts";
import packageJson from "./package.json" with { type: "json" };

const SHUTDOWN_MS = 10_000;

/** The heap grows by a quarter between collections instead of doubling: 70 MB less under load at the same rates. */
const HEAP_FLAG = "--heap-growing-percent=25";

async function main(): Promise<void> {
  setFlagsFromString(HEAP_FLAG);
  const config = loadConfigOrExit();
  const runtime = await createRuntimeOrExit(config, "web");
  const { log, services } = runtime;
  const requests = withoutRedaction(log);
  const { externalUrl: publicUrl, externalPxeUrl: pxeUrl } = config.http;
  setPageContext({ services, publicUrl, pxeUrl });

  // Next takes requests to upgrade away from its server and, but for development, never answers them. Without a taker they
  // are answered as any other (RFC 9110 §7.8), so the server it gets is none that listens.
  const upgrades = config.development ? {} : { httpServer: createServer() };
  const pages = next({ dev: config.development, dir: config.appDir, customServer: true, ...upgrades });
  await pages.prepare();
  const handlePage = pages.getRequestHandler();

  const onFailure = (err: unknown, entry: object) => log.error({ err, ...entry }, "request failed");
  const front = createFront({
    product: `Image Factory (Casthouse ${packageJson.version})`,
    publicHost: new URL(publicUrl).host,
    onFailure,
    api: createMachineApi({ services, publicUrl, onFailure }),
    pages: { routes: new RouteTable(PAGE_ROUTES), handle: (req, res) => handlePage(req, res) },
    onFinish: (entry) => requests.info(entry, "request"),
  });
  const server = createHttpServer(front);
  server.once("error", (error: NodeJS.ErrnoException) => {
    log.fatal({ err: error }, listenFailure(error, config.http));
    process.exitCode = 1;
    void runtime.close().finally(() => process.exit(1));
  });
  server.listen(config.http.port, config.http.host, () => {
    log.info({ host: config.http.host, port: config.http.port, url: publicUrl }, "web is ready");
  });

  const stop = (signal: string) => void stopWeb(signal, server, runtime);
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
}

/** Answers what is being answered, takes nothing new, and ends the process. */
async function stopWeb(signal: string, server: Server, runtime: Runtime): Promise<void> {
  runtime.log.info({ signal }, "web is stopping");
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, SHUTDOWN_MS))]);
  server.closeAllConnections();
  await runtime.close();
  process.exit(0);
}

function listenFailure(
  { code }: NodeJS.ErrnoException,
  { host, port }: { host: string; port: number },
): string {
  if (code === "EADDRINUSE")
    return `port ${port} is taken: another program listens on ${host}:${port}. Set PORT to a free one.`;
  if (code === "EACCES") return `port ${port} needs privileges. Set PORT to one above 1023.`;
  return `the server cannot listen on ${host}:${port}`;
}

await main();
