/** A TPM 2.0 for a machine in QEMU: Debian's swtpm, one process per boot, reached through a socket. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const PROGRAM = "/usr/bin/swtpm";
const START_MS = 20_000;

export interface EmulatedTpm {
  args: string[];
  stop(): void;
}

/** Starts a TPM that has never been used, with its files below `dir`. Throws when it does not answer. */
export async function startTpm(dir: string): Promise<EmulatedTpm> {
  const state = join(dir, "tpm");
  const socket = join(dir, "tpm.sock");
  await mkdir(state);
  const child = spawn(
    PROGRAM,
    ["socket", "--tpm2", "--tpmstate", `dir=${state}`, "--ctrl", `type=unixio,path=${socket}`, "--terminate"],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  let words = "";
  child.stderr.on("data", (chunk: Buffer) => {
    words = (words + chunk.toString()).slice(-2048);
  });
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  const stop = (): void => {
    process.removeListener("exit", kill);
    kill();
  };
  if (!(await isListening(child, socket))) {
    stop();
    throw new Error(`swtpm did not start (Debian package swtpm): ${words}`);
  }
  return {
    stop,
    args: [
      ...["-chardev", `socket,id=tpm,path=${socket}`, "-tpmdev", "emulator,id=tpm0,chardev=tpm"],
      ...["-device", "tpm-crb,tpmdev=tpm0"],
    ],
  };
}

async function isListening(child: ChildProcess, socket: string): Promise<boolean> {
  let ended = false;
  child.once("error", () => {
    ended = true;
  });
  child.once("close", () => {
    ended = true;
  });
  for (const end = Date.now() + START_MS; !ended && Date.now() < end; await sleep(20)) {
    if (existsSync(socket)) return true;
  }
  return false;
}
