/** Runs Debian's docker-registry over a folder on a port of the loopback interface. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface SampleRegistry {
  /** For example "http://127.0.0.1:45123". */
  url: string;
  /** Ends the registry and waits for it. */
  stop(): Promise<void>;
}

/** Starts a registry on `registryDir`; a free port is taken when none is given. Throws when it does not answer in 15 s. */
export async function startSampleRegistry(options: {
  registryDir: string;
  port?: number;
}): Promise<SampleRegistry> {
  const port = options.port ?? (await freePort());
  const dir = await mkdtemp(join(tmpdir(), "casthouse-registry-"));
  const config = join(dir, "config.json");
  // JSON is YAML: the registry reads it as its configuration.
  await writeFile(
    config,
    JSON.stringify({
      version: 0.1,
      log: { level: "error", accesslog: { disabled: true } },
      storage: { filesystem: { rootdirectory: options.registryDir } },
      http: { addr: `127.0.0.1:${port}` },
    }),
  );
  const child = spawn("docker-registry", ["serve", config], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", NODE_ENV: "production", OTEL_TRACES_EXPORTER: "none" },
  });
  let tail = "";
  child.stderr.on("data", (chunk: Buffer) => {
    tail = (tail + chunk.toString()).slice(-2048);
  });
  const stop = async (): Promise<void> => {
    await endOf(child);
    await rm(dir, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await answering(url, child);
  } catch (cause) {
    await stop();
    throw new Error(`docker-registry did not start on port ${port}\n${tail}`, { cause });
  }
  return { url, stop };
}

async function answering(url: string, child: ChildProcess): Promise<void> {
  let failed: Error | undefined;
  child.on("error", (cause) => {
    failed = cause;
  });
  for (const end = Date.now() + 15_000; Date.now() < end; await new Promise((wake) => setTimeout(wake, 50))) {
    if (failed || child.exitCode !== null) break;
    const reply = await fetch(`${url}/v2/`).catch(() => null);
    if (reply?.ok) return;
  }
  throw failed ?? new Error("no answer");
}

async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const force = setTimeout(() => child.kill("SIGKILL"), 5_000);
  await ended;
  clearTimeout(force);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() =>
        address && typeof address === "object" ? resolve(address.port) : reject(new Error("no free port")),
      );
    });
  });
}
