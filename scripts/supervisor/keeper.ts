/** Keeps one program running: records it, waits until it is ready, starts it again when it ends on its own. */
import { copyFile, mkdir, rename, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { waitUntil } from "../embedded/free-port.ts";
import { logTail, type ServerCommand, type ServerProcess, startServer } from "../embedded/server-process.ts";
import { identify } from "./process-identity.ts";

export interface Launch {
  /** Where its lines begin in the log file, in bytes. */
  logFrom: number;
  /** Milliseconds of the clock. */
  startedAt: number;
}

export interface KeptProgram {
  command: ServerCommand;
  /** Asked again and again after each start. */
  ready: (launch: Launch) => Promise<boolean>;
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
const LOOK_AT_LOG_MS = 60_000;

export class Keeper {
  #process: ServerProcess | undefined;
  #launching: Promise<unknown> | undefined;
  #logTimer: NodeJS.Timeout | undefined;
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
    const cut = () => cutLog(this.program.command.logFile).catch(() => undefined);
    this.#logTimer = setInterval(() => void cut(), LOOK_AT_LOG_MS);
    void this.#watch(started);
  }

  /** Ends the program in order, or at once when graceMs is 0. */
  async stop(graceMs = this.program.stopGraceMs): Promise<void> {
    this.#stopping = true;
    this.#wake.abort();
    clearInterval(this.#logTimer);
    await this.#process?.stop(graceMs);
    // It may have been about to start again: then that ends by itself, and we must not be gone before.
    await this.#launching?.catch(() => undefined);
    await rm(this.#record, { force: true });
  }

  get #record(): string {
    return join(this.program.runDir, `${this.name}.json`);
  }

  #launch(): Promise<ServerProcess> {
    const launching = this.#launchOnce();
    this.#launching = launching;
    return launching;
  }

  async #launchOnce(): Promise<ServerProcess> {
    const { command, ready, readyTimeoutMs, stopGraceMs, runDir } = this.program;
    const launch = { logFrom: await sizeOf(command.logFile), startedAt: Date.now() };
    const running = await startServer(command);
    this.#process = running;
    if (this.#stopping) {
      await running.stop(stopGraceMs);
      throw new Error(`${this.name} was stopped while it started`);
    }
    await mkdir(runDir, { recursive: true });
    await writeFile(this.#record, JSON.stringify(identify(running.pid) ?? { pid: running.pid }));
    try {
      await waitUntil(this.name, () => ready(launch), readyTimeoutMs, running.ended);
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
  if ((await sizeOf(file)) > MAX_LOG_BYTES) await rename(file, `${file}.1`);
}

/** The same while the program writes: it appends to the open file, so that stays and is emptied. */
export async function cutLog(file: string, maxBytes = MAX_LOG_BYTES): Promise<void> {
  if ((await sizeOf(file)) <= maxBytes) return;
  await copyFile(file, `${file}.1`);
  await truncate(file);
}

async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => null))?.size ?? 0;
}
