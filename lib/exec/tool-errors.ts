/** What is said when a program could not start, was stopped or ended badly. */
import { access } from "node:fs/promises";
import { AppError } from "../errors/app-error.ts";
import { diskFull, saysDiskFull } from "../errors/disk-full.ts";
import { systemCode } from "../errors/system-code.ts";
import { packageOf, type ToolName } from "./tools.ts";

const TAIL_LINES = 20;

export interface ProgramEnd {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
}

/** out_of_space when that is what the error says, else null. */
export const noSpaceIn = (tool: ToolName, error: unknown): AppError | null =>
  error instanceof Error && saysDiskFull(error.message) ? outOfSpace(tool, error.message) : null;

export const cancelled = (tool: ToolName) =>
  new AppError("cancelled", `${tool} was stopped because the work was cancelled`);

export const timedOut = (tool: ToolName, timeoutMs: number, output: string) =>
  new AppError(
    "timed_out",
    `${tool} did not finish within ${Math.round(timeoutMs / 1000)} s and was stopped`,
    {
      hint: "Try again when the machine is less busy, or raise BUILD_TIMEOUT.",
      details: { tool, exitCode: null, signal: "SIGTERM", tail: lastLines(output) },
    },
  );

const outOfSpace = (tool: ToolName, output: string) =>
  diskFull(`${tool} found no space left on the disk`, { details: { tool, tail: lastLines(output) } });

/** A program that ended badly, with its last words. */
export function toolFailed(tool: ToolName, end: ProgramEnd, stderr: string, stdout: string): AppError {
  if (saysDiskFull(stderr)) return outOfSpace(tool, stderr);
  const how = end.signal === null ? `ended with exit code ${end.exitCode}` : `was killed by ${end.signal}`;
  const tail = lastLines(stderr || stdout);
  const last = tail.split("\n").at(-1);
  return new AppError("tool_failed", `${tool} ${how}${last ? `: ${last}` : ""}`, {
    hint:
      end.signal === "SIGKILL"
        ? "The machine may be out of memory; see the kernel log."
        : "Its last lines are in the details, all of them in the log of the build.",
    details: { tool, exitCode: end.exitCode, signal: end.signal, tail },
  });
}

export const notInstalled = (tool: ToolName) =>
  new AppError("tool_failed", `${tool} is not installed`, {
    hint: `Install the Debian package ${packageOf(tool)}.`,
    details: { tool, exitCode: null, signal: null, tail: "" },
    retryable: false,
  });

/** A program that did not start at all: not executable, or the working folder is gone. */
export async function startFailed(
  tool: ToolName,
  cwd: string | undefined,
  cause: unknown,
): Promise<AppError> {
  const details = {
    tool,
    exitCode: null,
    signal: null,
    tail: cause instanceof Error ? cause.message : String(cause),
  };
  const code = systemCode(cause);
  if (
    code === "ENOENT" &&
    cwd !== undefined &&
    !(await access(cwd).then(
      () => true,
      () => false,
    ))
  ) {
    return new AppError("tool_failed", `${tool} could not start: the folder ${cwd} does not exist`, {
      hint: "Check that nobody cleans DATA_DIR while builds run.",
      details,
      cause,
    });
  }
  return new AppError("tool_failed", `${tool} could not start (${code ?? "unknown reason"})`, {
    hint: `Check that the program of the Debian package ${packageOf(tool)} is executable, and the limit on processes.`,
    details,
    cause,
  });
}

function lastLines(text: string): string {
  return text.trimEnd().split("\n").slice(-TAIL_LINES).join("\n").slice(-4096);
}
