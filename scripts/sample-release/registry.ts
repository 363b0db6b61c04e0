/** Runs Debian's docker-registry over a sample folder on a port of the loopback interface. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "../embedded/free-port.ts";
import { startAndWait } from "../embedded/server-process.ts";

export interface SampleRegistry {
  /** For example "http://127.0.0.1:45123". */
  url: string;
  /** Ends the registry and waits for it. */
  stop(): Promise<void>;
}

/** Starts a registry on `registryDir`; a free port is taken when none is given. Throws with its last words when it does not answer. */
export async function startSampleRegistry(options: {
  registryDir: string;
  port?: number;
}): Promise<SampleRegistry> {
  const port = options.port ?? (await findFreePort());
  const dir = await mkdtemp(join(tmpdir(), "casthouse-sample-"));
  const config = join(dir, "config.json");
  // JSON is YAML: the registry reads it as its configuration.
  const settings = {
    version: 0.1,
    log: { level: "error", accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: options.registryDir } },
    http: { addr: `127.0.0.1:${port}` },
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await writeFile(config, JSON.stringify(settings));
    const server = await startAndWait(
      {
        name: "sample registry",
        command: "docker-registry",
        args: ["serve", config],
        logFile: join(dir, "log"),
      },
      async () => (await fetch(`${url}/v2/`).catch(() => null))?.ok ?? false,
    );
    const stop = async (): Promise<void> => {
      await server.stop(5_000);
      await rm(dir, { recursive: true, force: true });
    };
    return { url, stop };
  } catch (error) {
    await rm(dir, { recursive: true, force: true });
    throw error;
  }
}
