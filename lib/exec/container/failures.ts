/** What is said when a program of an image ended badly, whichever way it was run. */
import { AppError } from "../../errors/app-error.ts";

/** Exit codes of imagers (docs/cli.md) in words. */
const MEANINGS: Record<number, string> = {
  2: "wrong input",
  3: "not supported",
  4: "its environment",
  5: "images or tools",
  6: "files",
  7: "assembly",
};
/** A shell's way to say that a signal ended the program; 137 is SIGKILL, most often for want of memory. */
const KILLED = 137;
const TAIL_CHARS = 4096;
const TAIL_LINES = 20;

/** Keeps the last lines of a program, for the sentence about its end. */
export class LastLines {
  readonly #lines: string[] = [];

  add(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > TAIL_LINES) this.#lines.shift();
  }

  get text(): string {
    return this.#lines.join("\n").slice(-TAIL_CHARS);
  }

  /** The line that says most: the last one that is not empty. */
  get last(): string {
    return this.#lines.findLast((line) => line.trim() !== "")?.trim() ?? "";
  }
}

/** A program that ended with this code. */
export function containerFailed(title: string, runner: string, exitCode: number, lines: LastLines): AppError {
  const meaning = MEANINGS[exitCode];
  const why = lines.last === "" ? "" : `: ${lines.last}`;
  const killed = exitCode === KILLED;
  return new AppError(
    "tool_failed",
    killed
      ? `${title} was killed${why}`
      : `${title} ended with exit code ${exitCode}${meaning === undefined ? "" : ` (${meaning})`}${why}`,
    {
      hint: killed
        ? "The machine may be out of memory; see the kernel log."
        : "All its lines are in the log of the build; docs/engines.md says what an imager image has to do.",
      details: { tool: runner, exitCode, signal: killed ? "SIGKILL" : null, tail: lines.text },
      retryable: killed,
    },
  );
}

/** A program that used more than it may. */
export const containerStopped = (
  title: string,
  runner: string,
  complaint: string,
  lines: LastLines,
): AppError =>
  new AppError("tool_failed", `${title} was stopped: ${complaint}`, {
    hint: "docs/engines.md lists the limits.",
    details: { tool: runner, exitCode: null, signal: "SIGKILL", tail: lines.text },
    retryable: false,
  });

/** A container that could not be made at all. */
export function notStarted(
  title: string,
  runner: string,
  reason: string,
  hint: string,
  cause?: unknown,
): AppError {
  return new AppError("tool_failed", `${title} could not be started by ${runner}: ${reason}`, {
    hint,
    details: { tool: runner, exitCode: null, signal: null, tail: reason },
    retryable: false,
    cause,
  });
}

/** The last line of what a tool said before it ended. */
export function lastWords(error: unknown): string {
  if (!(error instanceof AppError)) return error instanceof Error ? error.message : String(error);
  const tail = String(error.extra.details?.tail ?? "").trim();
  return tail.split("\n").at(-1) || error.message;
}
