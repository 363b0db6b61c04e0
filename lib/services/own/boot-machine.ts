/** Runs an ISO in a virtual machine without network until its console proves something. */
import { stripVTControlCharacters } from "node:util";
import { createBootJudge, type TestedExtension, type Verdict } from "../../domain/boot-test.ts";
import { AppError } from "../../errors/app-error.ts";
import type { RunTool } from "../../exec/run.ts";

const LIMIT_MS = 240_000;
const LOG_CHARS = 64 * 1024;

/** BIOS, emulated processor, CD, serial console; guests can neither reach a network nor make QEMU start programs. */
const machineArgs = (iso: string): string[] => [
  ...["-machine", "pc", "-cpu", "max", "-accel", "tcg", "-m", "1024", "-smp", "1"],
  ...["-nodefaults", "-no-reboot", "-display", "none", "-monitor", "none", "-vga", "std", "-nic", "none"],
  ...["-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"],
  ...["-device", "virtio-rng-pci", "-serial", "stdio", "-boot", "d"],
  // QEMU reads a comma in an option value as its end unless it is doubled.
  ...["-drive", `file=${iso.replaceAll(",", ",,")},format=raw,media=cdrom,readonly=on,if=ide`],
];

export interface BootEnd {
  verdict: Verdict;
  /** The last 64 KiB of the console. */
  log: string;
  ms: number;
}

export interface BootOrder {
  iso: string;
  tested: TestedExtension;
  signal: AbortSignal;
  run: RunTool;
  now: () => number;
}

/** Boots and judges. Rejects with AppError only when QEMU cannot do its work or the signal aborts; QEMU has ended either way. */
export async function bootAndJudge({ iso, tested, signal, run, now }: BootOrder): Promise<BootEnd> {
  const judge = createBootJudge(tested);
  const known = new AbortController();
  const started = now();
  let verdict: Verdict | null = null;
  let log = "";
  const onLine = (written: string) => {
    const line = stripVTControlCharacters(written);
    log += `${line}\n`;
    if (log.length > 2 * LOG_CHARS) log = log.slice(-LOG_CHARS);
    verdict ??= judge(line);
    if (verdict !== null) known.abort(new Error("the console has said enough"));
  };
  const decided = (): Verdict | null => verdict;
  try {
    const both = AbortSignal.any([signal, known.signal]);
    await run("qemu-system-x86_64", machineArgs(iso), { signal: both, timeoutMs: LIMIT_MS, onLine });
  } catch (error) {
    const timedOut = error instanceof AppError && error.code === "timed_out";
    if (decided() === null && !timedOut) throw error;
    if (timedOut) verdict ??= { state: "failed", reason: `No sign of life after ${LIMIT_MS / 1000} s` };
  }
  const end = decided() ?? { state: "failed", reason: "The machine switched itself off before it was up" };
  return { verdict: end, log: log.slice(-LOG_CHARS), ms: now() - started };
}
