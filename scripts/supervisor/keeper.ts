/** Keeps one program running: records it, waits until it is ready, starts it again when it ends on its own. */
import { mkdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { waitUntil } from "../embedded/free-port.ts";
import { logTail, type ServerCommand, type ServerProcess, startServer } from "../embedded/server-process.ts";
import { identify } from "./process-identity.ts";

export interface KeptProgram {
  command: ServerCommand;
  ready: () => Promise<boolean>;
  readyTimeoutMs: number;
  stopGraceMs: number;
  /** Folder of records; see leftovers.ts. */
  runDir: string;
  say: (line: string) => void;
  /** The program cannot run (wrong configuration, or it fails again and again); the reason is for people. */
  onHopeless: (reason: string, exitCode: number) => void;
}

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 30_000;
/** A program that ran this long starts over with the shortest delay. */
const HEALTHY_MS = 60_000;
const HOPELESS_TRIES = 10;
const MAX_LOG_BYTES = 10 * 1024 * 1024;

export class Keeper {
  #process: ServerProcess | undefined;
  #stopping = false;
  #restarts = 0;
  #wake = new AbortController();

  constructor(readonly program: KeptProgram) {}

  get name(): string {
    return this.program.command.name;
  }

  /** Starts the program and waits until it is ready; fails with the end of its log. From then on it is kept running. */
  async start(): Promise<void> {
    await rotateLog(this.program.command.logFile);
    const started = await this.#launch();
    void this.#watch(started);
  }

  /** Ends the program in order, or at once when graceMs is 0. */
  async stop(graceMs = this.program.stopGraceMs): Promise<void> {
    this.#stopping = true;
    this.#wake.abort();
    await this.#process?.stop(graceMs);
    await rm(this.#record, { force: true });
  }

  get #record(): string {
    return join(this.program.runDir, `${this.name}.json`);
  }

  async #launch(): Promise<ServerProcess> {
    const { command, ready, readyTimeoutMs, runDir } = this.program;
    const running = await startServer(command);
    this.#process = running;
    await mkdir(runDir, { recursive: true });
    await writeFile(this.#record, JSON.stringify(identify(running.pid) ?? { pid: running.pid }));
    try {
      await waitUntil(this.name, ready, readyTimeoutMs, running.ended);
    } catch (error) {
      await running.stop(1_000);
      if (this.#stopping) throw new Error(`${this.name} was stopped while it started`);
      throw new Error(`${error instanceof Error ? error.message : error}\n${await logTail(command.logFile)}`);
    }
    return running;
  }

  async #watch(first: ServerProcess): Promise<void> {
    let running: ServerProcess | null = first;
    let since = Date.now();
    while (running) {
      const how = await running.exited;
      if (this.#stopping) return;
      if (Date.now() - since > HEALTHY_MS) this.#restarts = 0;
      running = await this.#again(how);
      since = Date.now();
    }
  }

  /** Starts the program again after a pause; null when it is to stay down. */
  async #again(how: string): Promise<ServerProcess | null> {
    const { say, onHopeless, command } = this.program;
    let reason = how;
    for (;;) {
      if (this.#stopping) return null;
      if (reason === "exit code 78") {
        onHopeless(`${this.name} refuses its configuration\n${await logTail(command.logFile)}`, 78);
        return null;
      }
      if (this.#restarts >= HOPELESS_TRIES) {
        onHopeless(
          `${this.name} failed ${HOPELESS_TRIES} times in a row\n${await logTail(command.logFile)}`,
          1,
        );
        return null;
      }
      const delay = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** this.#restarts);
      this.#restarts++;
      say(`${this.name} ended (${reason}), starting it again in ${delay / 1000} s; log: ${command.logFile}`);
      await sleep(delay, undefined, { signal: this.#wake.signal }).catch(() => undefined);
      if (this.#stopping) return null;
      try {
        const running = await this.#launch();
        say(`${this.name} is running again`);
        return running;
      } catch {
        reason = this.#process?.ended() ?? "it did not become ready";
      }
    }
  }
}

/** Keeps one older log when the current one is large. */
async function rotateLog(file: string): Promise<void> {
  const info = await stat(file).catch(() => null);
  if (info && info.size > MAX_LOG_BYTES) await rename(file, `${file}.1`);
}
