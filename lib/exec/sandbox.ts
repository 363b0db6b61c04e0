/**
 * Runs a program that came out of an image: without network, without the machine's files, with limits on time, memory,
 * processes and disk. docs/overlays.md says what it can still do.
 */
import { chmod, lchown, lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../errors/app-error.ts";
import type { RunOptions, RunResult, RunTool } from "./run.ts";
import { countTasks, SandboxWatch } from "./sandbox-watch.ts";
import type { ToolName } from "./tools.ts";

export interface SandboxedProgram {
  /** What people know the program by; begins every message. */
  title: string;
  /** Folder of the machine that the program sees read-only as SANDBOX.program; everyone may read what is in it. */
  program: string;
  /** Path of the executable below `program`; a static one, there are no libraries. */
  executable: string;
  args: string[];
  stdin: Uint8Array;
  /** Folder that it sees as SANDBOX.work and may write to; without it there is only a small SANDBOX.temporary. */
  work?: string;
  timeoutMs: number;
  /** Most bytes that may be written to `work`, allocated blocks counted. */
  workBytes?: number;
  /** Longest file, bytes. */
  fileBytes?: number;
  signal?: AbortSignal;
}

/** Where things are inside. Nothing else is there but a minimal /dev and, where the kernel allows it, a /proc of its own. */
export const SANDBOX = { program: "/overlay", work: "/work", temporary: "/tmp" } as const;

const MIB = 1024 * 1024;
const TEMPORARY_BYTES = 64 * MIB;
const FILE_BYTES = 64 * MIB;
/** Address space of one process: programs in Go reserve far more than they use. */
const ADDRESS_BYTES = 4096 * MIB;
const MEMORY_BYTES = 1024 * MIB;
const PROCESSES = 64;
const OPEN_FILES = 256;
/** When we are root the program runs under this account, which owns nothing and which nobody uses. */
const NOBODY = 65_533;
/** Folder in the outer sandbox where the inner one finds what it may show. */
const STAGE = "/tmp/stage";
const SETPRIV = "/usr/bin/setpriv";

/**
 * Runs the program and gives its output. Rejects with AppError: tool_failed (also for a program that used too much; the
 * message ends with its last line on standard error, details.tail has more), timed_out, cancelled. When it is over, no
 * process of it is left, and everything in `work` belongs to us and can be read.
 */
export async function runSandboxed(run: RunTool, program: SandboxedProgram): Promise<RunResult> {
  const isRoot = process.getuid?.() === 0;
  if (program.work !== undefined && isRoot) await giveAway(program.work, NOBODY);
  const watch = new SandboxWatch({
    memoryBytes: MEMORY_BYTES,
    work: program.work ?? null,
    workBytes: program.workBytes ?? FILE_BYTES,
  });
  try {
    return await start(run, program, isRoot, watch);
  } catch (error) {
    throw explain(error, program, watch.complaint);
  } finally {
    watch.stop();
    if (program.work !== undefined) await takeBack(program.work, isRoot);
  }
}

/** What makes a sandbox tighter, and what bubblewrap says where that cannot be: inside containers, /proc is partly hidden and read-only. */
const REFUSALS = {
  /** A /proc of its own. */
  proc: /^bwrap: Can't mount proc/m,
  /** That it can make no further user namespaces. */
  noNesting: /^bwrap: cannot open \/proc\/sys\/user\/max_user_namespaces/m,
} as const;
type Feature = keyof typeof REFUSALS;
/** What this process goes without, once it was refused. */
const refused = new Set<Feature>();
const isFeature = (name: string): name is Feature => Object.hasOwn(REFUSALS, name);

async function start(
  run: RunTool,
  program: SandboxedProgram,
  isRoot: boolean,
  watch: SandboxWatch,
): Promise<RunResult> {
  const wanted = Object.keys(REFUSALS)
    .filter(isFeature)
    .filter((feature) => !refused.has(feature));
  const [tool, args] = await commandOf(program, isRoot);
  try {
    return await run(tool, args, runOptions(program, watch));
  } catch (error) {
    const tail = error instanceof AppError ? String(error.extra.details?.tail ?? "") : "";
    const missing = wanted.find((feature) => REFUSALS[feature].test(tail));
    if (missing === undefined) throw error;
    // The program was not started: the sandbox is made before.
    refused.add(missing);
    return start(run, program, isRoot, watch);
  }
}

function runOptions({ signal, stdin, timeoutMs }: SandboxedProgram, watch: SandboxWatch): RunOptions {
  const signals = signal === undefined ? [watch.signal] : [signal, watch.signal];
  return { stdin, timeoutMs, signal: AbortSignal.any(signals), onStart: (pid) => watch.start(pid) };
}

/**
 * As an ordinary account: one bubblewrap in namespaces of its own. As root: a first one, as root, puts the two folders
 * where any account reaches them; then the account is given up for good, and the rest is as above. Root's own number
 * would be exempt from the limit on processes and would count where the kernel asks for it.
 */
async function commandOf(program: SandboxedProgram, isRoot: boolean): Promise<[ToolName, string[]]> {
  const uid = isRoot ? NOBODY : (process.getuid?.() ?? NOBODY);
  const limits = limitArguments(PROCESSES + (await countTasks(uid)), program.fileBytes ?? FILE_BYTES);
  if (!isRoot) return ["prlimit", [...limits, "--", "bwrap", ...innerArguments(program, program)]];
  const staged = { program: `${STAGE}/program`, ...(program.work ? { work: `${STAGE}/work` } : {}) };
  return [
    "bwrap",
    [
      ...["--unshare-pid", "--unshare-net", "--unshare-ipc", "--die-with-parent", "--dev-bind", "/", "/"],
      ...["--perms", "0755", "--tmpfs", "/tmp", "--perms", "0755", "--dir", STAGE],
      ...["--ro-bind", program.program, staged.program],
      ...(program.work ? ["--bind", program.work, `${STAGE}/work`] : []),
      ...["--", SETPRIV, `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", "--no-new-privs"],
      ...["--", "prlimit", ...limits, "--", "bwrap", ...innerArguments(program, staged)],
    ],
  ];
}

/** Limits of getrlimit(2), inherited by whatever the program starts. */
const limitArguments = (processes: number, fileBytes: number): string[] => [
  `--nproc=${processes}`,
  `--fsize=${fileBytes}`,
  `--as=${ADDRESS_BYTES}`,
  `--nofile=${OPEN_FILES}`,
  "--core=0",
];

/** Root inside, so that folders made without the right to enter them work as they do for real root; nobody outside. */
function innerArguments(program: SandboxedProgram, from: { program: string; work?: string }): string[] {
  return [
    ...["--unshare-all", "--unshare-user", "--uid", "0", "--gid", "0"],
    ...(refused.has("noNesting") ? [] : ["--disable-userns"]),
    ...["--cap-drop", "ALL", "--cap-add", "CAP_DAC_OVERRIDE", "--die-with-parent", "--new-session"],
    ...["--clearenv", "--setenv", "PATH", SANDBOX.program, "--setenv", "HOME", SANDBOX.temporary],
    ...["--setenv", "LC_ALL", "C", "--setenv", "TZ", "UTC", "--hostname", "sandbox"],
    ...["--dev", "/dev", "--remount-ro", "/dev"],
    ...(refused.has("proc") ? [] : ["--proc", "/proc"]),
    ...["--size", String(TEMPORARY_BYTES), "--tmpfs", SANDBOX.temporary],
    ...["--ro-bind", from.program, SANDBOX.program],
    ...(from.work ? ["--bind", from.work, SANDBOX.work] : []),
    ...["--chdir", from.work ? SANDBOX.work : SANDBOX.temporary, "--remount-ro", "/"],
    ...["--", join(SANDBOX.program, program.executable), ...program.args],
  ];
}

/** Makes the account the owner of the folder and of all below it; links are not followed. */
async function giveAway(path: string, uid: number): Promise<void> {
  await lchown(path, uid, uid);
  if (!(await lstat(path)).isDirectory()) return;
  for (const name of await readdir(path)) await giveAway(join(path, name), uid);
}

/** Programs leave folders that their owner may not enter, and other owners when we are root. Links are not followed. */
async function takeBack(path: string, isRoot: boolean): Promise<void> {
  if (isRoot) await lchown(path, process.getuid?.() ?? 0, process.getgid?.() ?? 0);
  const stats = await lstat(path);
  if (stats.isFile()) await chmod(path, 0o644);
  if (!stats.isDirectory()) return;
  await chmod(path, 0o755);
  for (const name of await readdir(path)) await takeBack(join(path, name), isRoot);
}

const NO_SANDBOX =
  "Programs of board overlays run in user namespaces; docs/overlays.md says how to allow them.";

function explain(error: unknown, { title, timeoutMs }: SandboxedProgram, complaint: string | null): unknown {
  if (!(error instanceof AppError)) return error;
  if (complaint !== null) return failed(`${title} was stopped: ${complaint}`, error);
  if (error.code === "cancelled") return error;
  if (error.code === "timed_out") {
    const message = `${title} did not finish within ${Math.round(timeoutMs / 1000)} s and was stopped`;
    return new AppError("timed_out", message, { details: detailsOf(error), cause: error });
  }
  const tail = String(error.extra.details?.tail ?? "");
  const last = tail.split("\n").at(-1) ?? "";
  if (error.code === "out_of_space") return failed(`${title} failed: ${last}`, error);
  if (last.startsWith("bwrap: ") || error.extra.details?.exitCode === undefined) {
    return failed(`${title} could not be started in a sandbox: ${last || error.message}`, error, NO_SANDBOX);
  }
  const code = error.extra.details.exitCode;
  return failed(`${title} ended with exit code ${code}${last === "" ? "" : `: ${last}`}`, error);
}

function failed(message: string, cause: AppError, hint?: string): AppError {
  return new AppError("tool_failed", message, {
    ...(hint === undefined ? {} : { hint }),
    details: detailsOf(cause),
    retryable: false,
    cause,
  });
}

const detailsOf = ({ extra }: AppError): Record<string, unknown> => ({ ...extra.details });
