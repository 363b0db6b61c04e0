/** `npm start`: runs the factory on this machine until it is told to stop. `--dev` compiles on the fly and restarts on changes. */
import { existsSync } from "node:fs";
import { exitWithProblems } from "../lib/config/load.ts";
import { type RunningFactory, startFactory, WrongConfiguration } from "./supervisor/factory.ts";
import { AlreadyRunning } from "./supervisor/instance-lock.ts";

const development = process.argv.includes("--dev");
const node = process.execPath;
const watch = (entry: string) => [
  node,
  "node_modules/tsx/dist/cli.mjs",
  "watch",
  "--clear-screen=false",
  entry,
];
const programs = development
  ? { web: watch("server.ts"), worker: watch("workers/main.ts") }
  : {
      web: [node, "dist/web.mjs"],
      worker: [node, "dist/worker.mjs"],
    };

const say = (line: string) => console.log(`casthouse: ${line}`);
let factory: RunningFactory | undefined;
let stopping = false;

async function end(exitCode: number): Promise<void> {
  if (stopping) return;
  stopping = true;
  await factory?.stop();
  say("stopped");
  process.exit(exitCode);
}

function onSignal(signal: NodeJS.Signals): void {
  if (stopping) {
    say("stopping at once");
    void factory?.stop(0);
    return;
  }
  say(`${signal}, stopping`);
  // Before everything is up there is nothing to hand over: the children end with us.
  if (!factory) process.exit(130);
  void end(0);
}

async function main(): Promise<void> {
  if (existsSync(".env")) process.loadEnvFile(".env");
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  process.on("SIGHUP", onSignal);
  const start = Date.now();
  say("starting");
  factory = await startFactory({
    programs,
    development,
    say,
    onHopeless: (reason, exitCode) => {
      console.error(`casthouse: ${reason}`);
      void end(exitCode);
    },
  });
  say(`ready at ${factory.externalUrl} (after ${((Date.now() - start) / 1000).toFixed(1)} s)`);
}

main().catch((error: unknown) => {
  if (error instanceof WrongConfiguration) exitWithProblems(error.problems);
  console.error(`casthouse: ${error instanceof Error ? error.message : error}`);
  process.exit(error instanceof AlreadyRunning ? 75 : 1);
});
