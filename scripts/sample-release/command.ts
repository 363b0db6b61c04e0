/** Starts the programs the sample release is made with: argument arrays, a clean environment, the last lines on failure. */
import { spawn } from "node:child_process";

export interface CommandOptions {
  cwd?: string;
  env?: Record<string, string>;
  stdin?: Uint8Array;
}

/** Runs a program to its end and gives its standard output. Throws with the last lines of stderr when it fails. */
export function command(program: string, args: string[], options: CommandOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      env: {
        PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        HOME: process.env.HOME ?? "/",
        LC_ALL: "C",
        TZ: "UTC",
        NODE_ENV: "production",
        ...options.env,
      },
      stdio: ["pipe", "pipe", "pipe"],
    });
    const out: Buffer[] = [];
    let tail = "";
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => {
      tail = (tail + chunk.toString()).slice(-4096);
    });
    child.on("error", (cause) =>
      reject(new Error(`${program} could not be started: ${cause.message}`, { cause })),
    );
    child.on("close", (code, signal) => {
      if (code === 0) resolve(Buffer.concat(out).toString());
      else reject(new Error(`${program} ended with ${signal ?? `exit code ${code}`}\n${tail}`));
    });
    child.stdin.on("error", () => {});
    child.stdin.end(options.stdin);
  });
}
