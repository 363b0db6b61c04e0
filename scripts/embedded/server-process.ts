/** A server program that runs beside us: its log goes to a file, it ends when we end, however we end. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, open, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { childEnvironment } from "../../lib/exec/child-environment.ts";
import { waitUntil } from "./free-port.ts";

export interface ServerCommand {
  /** For people: "Postgres", "web". */
  name: string;
  command: string;
  args: string[];
  env?: Record<string, string>;
  cwd?: string;
  /** Everything the program prints is appended here. */
  logFile: string;
  /** Asks it to end in order. */
  stopSignal?: NodeJS.Signals;
  /** Unprivileged account to run as when we are root (setpriv keeps access to folders only root may enter). */
  account?: string;
}

export interface ServerProcess {
  name: string;
  pid: number;
  /** Resolves when the program has ended, with a few words on how. */
  exited: Promise<string>;
  /** Set once it has ended. */
  ended: () => string | undefined;
  /** Ends it: stop signal, then SIGKILL after graceMs. */
  stop(graceMs?: number): Promise<void>;
}

const SETPRIV = "/usr/bin/setpriv";

/**
 * Starts the program in its own process group, so that Ctrl-C reaches only us and we stop things in order. Where
 * setpriv exists (util-linux, on every Debian) the kernel sends the stop signal when we die without saying goodbye.
 */
export async function startServer(server: ServerCommand): Promise<ServerProcess> {
  const stopSignal = server.stopSignal ?? "SIGTERM";
  await mkdir(dirname(server.logFile), { recursive: true });
  const log = await open(server.logFile, "a");
  let child: ChildProcess;
  try {
    const [command, ...args] = wrap(server, stopSignal);
    child = spawn(command ?? server.command, args, {
      env: childEnvironment({ PATH: process.env.PATH ?? "/usr/bin:/bin", LC_ALL: "C.UTF-8" }, server.env),
      ...(server.cwd ? { cwd: server.cwd } : {}),
      detached: true,
      stdio: ["ignore", log.fd, log.fd],
    });
  } finally {
    await log.close();
  }
  let ended: string | undefined;
  const exited = new Promise<string>((resolve) => {
    const end = (how: string) => {
      ended = how;
      resolve(how);
    };
    child.once("error", (error) => end(error.message));
    child.once("exit", (code, signal) => end(signal ? `killed by ${signal}` : `exit code ${code}`));
  });
  return {
    name: server.name,
    pid: child.pid ?? -1,
    exited,
    ended: () => ended,
    stop: async (graceMs = 10_000) => {
      if (ended !== undefined || child.pid === undefined) return;
      child.kill(stopSignal);
      const timer = setTimeout(() => killGroup(child.pid), graceMs);
      await exited;
      clearTimeout(timer);
      killGroup(child.pid);
    },
  };
}

/** Starts the command and waits; the error carries the end of the server's log. */
export async function startAndWait(
  command: ServerCommand,
  ready: () => Promise<boolean>,
): Promise<ServerProcess> {
  const server = await startServer(command);
  try {
    await waitUntil(command.name, ready, 60_000, server.ended);
  } catch (error) {
    await server.stop(1_000);
    throw new Error(`${String(error)}\n${await logTail(command.logFile)}`);
  }
  return server;
}

/** The last lines of a server's log, for error texts. */
export async function logTail(file: string, lines = 15): Promise<string> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.trimEnd().split("\n").slice(-lines).join("\n");
}

/** Waits for the end of a process that is not our child; false when it still runs after the given time. */
export async function waitForEnd(pid: number, timeoutMs: number): Promise<boolean> {
  for (const end = Date.now() + timeoutMs; Date.now() < end; await sleep(20)) {
    try {
      process.kill(pid, 0);
    } catch {
      return true;
    }
  }
  return false;
}

function wrap(server: ServerCommand, stopSignal: NodeJS.Signals): string[] {
  const plain = [server.command, ...server.args];
  if (!existsSync(SETPRIV)) return plain;
  const asAccount = server.account === undefined ? [] : accountOptions(server.account);
  return [SETPRIV, ...asAccount, "--pdeathsig", stopSignal.replace("SIG", ""), "--", ...plain];
}

/**
 * Options of setpriv for another account that may still walk through folders of mode 0700 (a clone under /root, or in
 * a fresh temporary folder). no_setuid_fixup makes access(2) respect that capability too; Postgres uses access(2).
 */
export function accountOptions(account: string): string[] {
  return [
    `--reuid=${account}`,
    `--regid=${account}`,
    "--clear-groups",
    "--securebits=+no_setuid_fixup",
    "--inh-caps=+dac_override",
    "--ambient-caps=+dac_override",
  ];
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Nobody of the group is left.
  }
}
