/** The one way to start a program: allow-listed name, argument array, clean environment, own process group. */
import type { ToolName } from "./tools.ts";

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
}

export interface RunResult {
  /** At most 64 KiB, the last ones. */
  stdout: string;
  stderr: string;
}

export type RunTool = (tool: ToolName, args: string[], options?: RunOptions) => Promise<RunResult>;
