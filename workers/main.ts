/** The worker process: `npm run start:worker`. */
import { loadConfigOrExit } from "../lib/config/load.ts";
import { createRuntimeOrExit } from "../lib/runtime/start.ts";
import { startWorkerProcess } from "./worker-process.ts";

async function main(): Promise<void> {
  const config = loadConfigOrExit();
  const runtime = await createRuntimeOrExit(config, "worker");
  const { log, worker, services } = runtime;
  if (worker === null) throw new Error("the runtime has no worker side");
  const running = await startWorkerProcess({ ...worker, bootTests: services.bootTests, log });
  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, "worker is stopping");
    await running.stop();
    await runtime.close();
    process.exit(0);
  };
  process.on("SIGTERM", (signal) => void stop(signal));
  process.on("SIGINT", (signal) => void stop(signal));
}

await main();
