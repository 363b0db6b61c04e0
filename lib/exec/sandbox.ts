/**
 * Runs a program that came out of an image: without network, without the machine's files, with limits on time, memory,
 * processes and disk. docs/overlays.md says what it can still do.
 */
import { join } from "node:path";
import { AppError } from "../errors/app-error.ts";
import type { RunOptions, RunResult, RunTool } from "./run.ts";
import { AS_NOBODY, areRoot, giveAway, NOBODY, takeBack } from "./sandbox-account.ts";
import { hasFeature, withSandboxFeatures } from "./sandbox-features.ts";
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
const WORK_FILES = 20_000;
/** Folder in the outer sandbox where the inner one finds what it may show. */
const STAGE = "/tmp/stage";

/**
 * Runs the program and gives its output. Rejects with AppError: tool_failed (also for a program that used too much; the
 * message ends with its last line on standard error, details.tail has more), timed_out, cancelled. When it is over, no
 * process of it is left, and everything in `work` belongs to us and can be read.
 */
export async function runSandboxed(run: RunTool, program: SandboxedProgram): Promise<RunResult> {
  const isRoot = areRoot();
  if (program.work !== undefined && isRoot) await giveAway(program.work, NOBODY);
  const watch = new SandboxWatch({
    memoryBytes: MEMORY_BYTES,
    work: program.work ?? null,
    workBytes: program.workBytes ?? FILE_BYTES,
    workFiles: WORK_FILES,
  });
  try {
    return await withSandboxFeatures(async () => {
      const [tool, args] = await commandOf(program, isRoot);
      return run(tool, args, runOptions(program, watch));
    });
  } catch (error) {
    throw explain(error, program, watch.complaint);
  } finally {
    watch.stop();
    if (program.work !== undefined) await takeBack(program.work, isRoot);
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
      ...["--", ...AS_NOBODY, "prlimit", ...limits, "--", "bwrap", ...innerArguments(program, staged)],
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
    ...(hasFeature("noNesting") ? ["--disable-userns"] : []),
    ...["--cap-drop", "ALL", "--cap-add", "CAP_DAC_OVERRIDE", "--die-with-parent", "--new-session"],
    ...["--clearenv", "--setenv", "PATH", SANDBOX.program, "--setenv", "HOME", SANDBOX.temporary],
    ...["--setenv", "LC_ALL", "C", "--setenv", "TZ", "UTC", "--hostname", "sandbox"],
    ...["--dev", "/dev", "--remount-ro", "/dev"],
    ...(hasFeature("proc") ? ["--proc", "/proc"] : []),
    ...["--size", String(TEMPORARY_BYTES), "--tmpfs", SANDBOX.temporary],
    ...["--ro-bind", from.program, SANDBOX.program],
    ...(from.work ? ["--bind", from.work, SANDBOX.work] : []),
    ...["--chdir", from.work ? SANDBOX.work : SANDBOX.temporary, "--remount-ro", "/"],
    ...["--", join(SANDBOX.program, program.executable), ...program.args],
  ];
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
