/** The one way to start a program: allow-listed name, argument array, clean environment, own process group. */
import { type ChildProcess, spawn } from "node:child_process";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { AppError } from "../errors/app-error.ts";
import { childEnvironment } from "./child-environment.ts";
import { findProgram, isExecutable } from "./find-program.ts";
import { OutputTail, type Reword } from "./output-tail.ts";
import {
  cancelled,
  noSpaceIn,
  notInstalled,
  type ProgramEnd,
  startFailed,
  timedOut,
  toolFailed,
} from "./tool-errors.ts";
import { isToolName, packageOf, type ToolName } from "./tools.ts";

export interface RunOptions {
  cwd?: string;
  /** Extra variables on top of the clean base (PATH, LC_ALL=C, TZ=UTC, HOME). */
  env?: Record<string, string>;
  signal?: AbortSignal;
  timeoutMs?: number;
  /** Bytes or a file path given to standard input. */
  stdin?: Uint8Array | { file: string };
  /** Standard output goes into this file instead of memory. */
  stdoutFile?: string;
  /** Called with every complete line of stderr (and of stdout unless stdoutFile is set). */
  onLine?: (line: string) => void;
  /** Changes each line before it reaches onLine, the result or an error. */
  reword?: Reword;
  /** Called once with the number of the process that was started; the program and all it starts descend from it. */
  onStart?: (pid: number) => void;
}

export interface RunResult {
  /** At most 64 KiB, the last ones. */
  stdout: string;
  stderr: string;
}

export type RunTool = (tool: ToolName, args: string[], options?: RunOptions) => Promise<RunResult>;

export interface RunToolSettings {
  /** Where programs are looked for, colon-separated. */
  path?: string;
  /** HOME of every program; a scratch folder, so that no dot file of the operator changes a build. */
  home?: string;
  /** How long a program may take to react to SIGTERM before SIGKILL, milliseconds. */
  killGraceMs?: number;
}

/** Folders of Debian's tools; /usr/sbin holds mkfs.* and depmod also for accounts that do not have it in PATH. */
const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const SETPRIV = "/usr/bin/setpriv";
const KILL_GRACE_MS = 2_000;
/** After the program itself has ended: how long a process it left behind may keep the pipes open. */
const DRAIN_MS = 1_000;

/**
 * Gives a function that runs allow-listed tools. It rejects with AppError: tool_failed (details: tool, exitCode,
 * signal, tail), timed_out, cancelled or out_of_space. Whatever the end, no process of the tool's group is left.
 */
export function createRunTool(settings: RunToolSettings = {}): RunTool {
  const path = settings.path ?? SYSTEM_PATH;
  const base = { PATH: path, LC_ALL: "C", TZ: "UTC", HOME: settings.home ?? tmpdir() };
  const killGraceMs = settings.killGraceMs ?? KILL_GRACE_MS;

  return async (tool, args, options = {}) => {
    if (!isToolName(tool)) {
      throw new AppError("internal", `${tool} is not a program this service may start`, { retryable: false });
    }
    if (options.signal?.aborted) throw cancelled(tool);
    const program = await findProgram(path, tool);
    if (program === null) throw notInstalled(tool);
    const [command, ...given] = [...(await endsWithUs()), program, ...args];
    const files = await openFiles(tool, options);
    try {
      const child = spawn(command ?? program, given, {
        ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
        env: childEnvironment(base, options.env),
        detached: true,
        stdio: [
          files.stdin?.fd ?? (options.stdin === undefined ? "ignore" : "pipe"),
          files.stdout?.fd ?? "pipe",
          "pipe",
        ],
      });
      return await supervise(child, tool, options, killGraceMs);
    } finally {
      await Promise.all([files.stdin?.close(), files.stdout?.close()]);
    }
  };
}

/** The runner with default settings: system folders, HOME in the system's temporary folder. */
export const runTool: RunTool = createRunTool();

/** Those of the tools that are not installed, each with the Debian package that brings it; empty when all are there. */
export async function missingTools(
  tools: readonly ToolName[],
  path = SYSTEM_PATH,
): Promise<{ tool: ToolName; package: string }[]> {
  const found = await Promise.all(tools.map((tool) => findProgram(path, tool)));
  return tools
    .filter((_, index) => found[index] === null)
    .map((tool) => ({ tool, package: packageOf(tool) }));
}

let deathSignal: Promise<string[]> | undefined;

/**
 * Words before a command that make the kernel kill it when this process is killed (prctl(2), PR_SET_PDEATHSIG):
 * otherwise a compressor would go on for minutes after a worker's death. setpriv replaces itself by the program.
 */
function endsWithUs(): Promise<string[]> {
  deathSignal ??= isExecutable(SETPRIV).then((there) =>
    there ? [SETPRIV, "--pdeathsig", "KILL", "--"] : [],
  );
  return deathSignal;
}

async function openFiles(
  tool: ToolName,
  options: RunOptions,
): Promise<{ stdin?: FileHandle; stdout?: FileHandle }> {
  const { stdin } = options;
  const input = stdin !== undefined && "file" in stdin ? await open(stdin.file, "r") : undefined;
  if (options.stdoutFile === undefined) return input ? { stdin: input } : {};
  try {
    const stdout = await open(options.stdoutFile, "w");
    return input ? { stdin: input, stdout } : { stdout };
  } catch (error) {
    await input?.close();
    throw noSpaceIn(tool, error) ?? error;
  }
}

/** Waits for the program, kills its group on abort and timeout, and turns every bad end into an AppError. */
async function supervise(
  child: ChildProcess,
  tool: ToolName,
  options: RunOptions,
  killGraceMs: number,
): Promise<RunResult> {
  const stdout = new OutputTail(options.onLine, options.reword);
  const stderr = new OutputTail(options.onLine, options.reword);
  child.stdout?.on("data", (chunk: Buffer) => stdout.add(chunk));
  child.stderr?.on("data", (chunk: Buffer) => stderr.add(chunk));
  feed(child, options.stdin);
  if (child.pid !== undefined) options.onStart?.(child.pid);

  let stopped: "timed_out" | "cancelled" | undefined;
  let killTimer: NodeJS.Timeout | undefined;
  const stop = (why: "timed_out" | "cancelled") => {
    if (stopped) return;
    stopped = why;
    killGroup(child, "SIGTERM");
    killTimer = setTimeout(() => killGroup(child, "SIGKILL"), killGraceMs);
  };
  const onAbort = () => stop("cancelled");
  options.signal?.addEventListener("abort", onAbort, { once: true });
  if (options.signal?.aborted) onAbort();
  const timeout =
    options.timeoutMs === undefined ? undefined : setTimeout(() => stop("timed_out"), options.timeoutMs);
  try {
    const end = await ended(child);
    stdout.finish();
    stderr.finish();
    if (stopped === "cancelled") throw cancelled(tool);
    if (stopped === "timed_out") throw timedOut(tool, options.timeoutMs ?? 0, stderr.text || stdout.text);
    if (end.exitCode !== 0) throw toolFailed(tool, end, stderr.text, stdout.text);
    return { stdout: stdout.text, stderr: stderr.text };
  } catch (error) {
    throw error instanceof AppError ? error : await startFailed(tool, options.cwd, error);
  } finally {
    clearTimeout(timeout);
    clearTimeout(killTimer);
    options.signal?.removeEventListener("abort", onAbort);
  }
}

/** Writes the given bytes to standard input; a program that stops reading early is judged by its exit code alone. */
function feed(child: ChildProcess, stdin: RunOptions["stdin"]): void {
  if (!child.stdin) return;
  child.stdin.on("error", () => undefined);
  child.stdin.end(stdin instanceof Uint8Array ? stdin : undefined);
}

/**
 * Resolves when the program has ended and its pipes are drained. A process it left behind would hold the pipes for
 * ever: it gets DRAIN_MS, then the group is killed, and the pipes of one that left the group are closed on our side.
 */
function ended(child: ChildProcess): Promise<ProgramEnd> {
  return new Promise((resolve, reject) => {
    let drain: NodeJS.Timeout | undefined;
    child.once("error", reject);
    child.once("exit", () => {
      drain = setTimeout(() => {
        killGroup(child, "SIGKILL");
        drain = setTimeout(() => {
          child.stdout?.destroy();
          child.stderr?.destroy();
        }, DRAIN_MS);
      }, DRAIN_MS);
    });
    child.once("close", (exitCode, signal) => {
      clearTimeout(drain);
      killGroup(child, "SIGKILL");
      resolve({ exitCode, signal });
    });
  });
}

function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // ESRCH: nobody of the group is left, which is what was wanted.
  }
}
