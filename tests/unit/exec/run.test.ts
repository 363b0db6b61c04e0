/** The runner against real programs: output, failure, abort, timeout, and processes left behind. */
import { spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AppError } from "../../../lib/errors/app-error.ts";
import { createRunTool, missingTools, type RunTool, runTool } from "../../../lib/exec/run.ts";
import type { ToolName } from "../../../lib/exec/tools.ts";
import { TOOLS_OF_ROLE } from "../../../lib/exec/tools.ts";

let dir: string;
/** A runner whose "xz" is a shell script: allow-listed name, behaviour of our choice. */
let script: (body: string) => Promise<RunTool>;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "casthouse-run-"));
  let n = 0;
  script = async (body) => {
    const folder = join(dir, `bin-${n++}`);
    await mkdir(folder);
    await writeFile(join(folder, "xz"), `#!/bin/sh\n${body}\n`);
    await chmod(join(folder, "xz"), 0o755);
    return createRunTool({ path: `${folder}:/usr/bin:/bin`, home: dir, killGraceMs: 300 });
  };
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function failure(promise: Promise<unknown>): Promise<AppError> {
  const error = await promise.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (!(error instanceof AppError)) throw new Error(`expected an AppError, got ${String(error)}`);
  return error;
}

async function isAlive(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return status !== "" && !/^\d+ \(.*\) Z/.test(status);
}

describe("runTool with real programs", () => {
  it("feeds bytes and returns what the program prints", async () => {
    const text = Buffer.from("hello ".repeat(1000));
    const packed = join(dir, "hello.xz");
    await runTool("xz", ["-c"], { stdin: text, stdoutFile: packed });
    const { stdout } = await runTool("xz", ["-dc"], { stdin: { file: packed } });
    expect(stdout).toBe(text.toString());
  });

  it("gives every line, also an unfinished last one, and progress bars state by state", async () => {
    const run = await script(String.raw`printf 'one\ntwo\r50%%\r\nlast' ; printf 'warn\n' >&2`);
    const lines: string[] = [];
    await run("xz", [], { onLine: (line) => lines.push(line) });
    expect(lines.sort()).toEqual(["50%", "last", "one", "two", "warn"]);
  });

  it("gives only changed lines where they have to be changed, in results and errors too", async () => {
    const reword = (line: string) => (line === "gone" ? null : line.replace("secret", "(hidden)"));
    const lines: string[] = [];
    const onLine = (line: string) => lines.push(line);
    const good = await script("echo a secret; echo gone; printf 'last secret'");
    const { stdout } = await good("xz", [], { reword, onLine });
    expect([stdout, lines]).toEqual(["a (hidden)\nlast (hidden)\n", ["a (hidden)", "last (hidden)"]]);
    for (const end of ["exit 3", "echo no space left on device >&2; exit 1", "kill -9 $$"]) {
      const bad = await script(`echo the secret >&2; ${end}`);
      const error = await failure(bad("xz", [], { reword }));
      expect(JSON.stringify([error.message, error.extra])).toContain("the (hidden)");
      expect(JSON.stringify([error.message, error.extra])).not.toContain("secret");
    }
  });

  it("keeps only the last 64 KiB", async () => {
    const run = await script("i=0; while [ $i -lt 20000 ]; do echo line-$i; i=$((i+1)); done");
    const { stdout } = await run("xz", []);
    expect(stdout.length).toBe(64 * 1024);
    expect(stdout.endsWith("line-19999\n")).toBe(true);
  });

  it("starts with a clean environment", async () => {
    const run = await script("env | sort");
    process.env.CASTHOUSE_LEAK = "secret";
    const { stdout } = await run("xz", [], { env: { EXTRA: "1" } });
    delete process.env.CASTHOUSE_LEAK;
    const names = stdout
      .trim()
      .split("\n")
      .map((line) => line.split("=")[0]);
    expect(names.filter((name) => !["PWD", "OLDPWD", "SHLVL", "_"].includes(name ?? ""))).toEqual([
      "EXTRA",
      "HOME",
      "LC_ALL",
      "PATH",
      "TZ",
    ]);
    expect(stdout).toContain(`HOME=${dir}\n`);
  });

  it("does not hand a shell anything", async () => {
    const run = await script('printf "%s" "$1"');
    expect((await run("xz", ["$(id); `id` && id"])).stdout).toBe("$(id); `id` && id");
  });
});

describe("runTool when it goes wrong", () => {
  it("names tool, exit code and last lines", async () => {
    const error = await failure(runTool("xz", ["-t", "/nonexistent.xz"]));
    expect(error.code).toBe("tool_failed");
    expect(error.extra.details).toMatchObject({ tool: "xz", exitCode: 1, signal: null });
    expect(String(error.extra.details?.tail)).toContain("No such file");
    expect(error.message).toMatch(/^xz ended with exit code 1: .*No such file/);
  });

  it("names the Debian package of a missing program", async () => {
    const error = await failure(createRunTool({ path: "/nonexistent" })("xorriso", []));
    expect(error.message).toBe("xorriso is not installed");
    expect(error.extra.hint).toContain("package xorriso");
  });

  it("says so when the working folder is the thing that is missing", async () => {
    const error = await failure(runTool("xz", ["--version"], { cwd: join(dir, "gone") }));
    expect(error.message).toContain("gone does not exist");
  });

  it("refuses a program that is not on the list", async () => {
    const error = await failure(runTool("bash" as ToolName, ["-c", "true"]));
    expect(error.message).toContain("bash is not a program");
  });

  it("reports a full disk as out_of_space", async () => {
    const error = await failure(
      runTool("xz", ["-0"], { stdin: Buffer.alloc(1 << 20, "x"), stdoutFile: "/dev/full" }),
    );
    expect(error.code).toBe("out_of_space");
  });

  it("survives a program that does not read its input", async () => {
    const run = await script("exit 0");
    await run("xz", [], { stdin: Buffer.alloc(8 << 20) });
  });

  it("reports death by signal", async () => {
    const run = await script("kill -SEGV $$");
    const error = await failure(run("xz", []));
    expect(error.extra.details).toMatchObject({ exitCode: null, signal: "SIGSEGV" });
  });
});

describe("runTool stops the whole group", () => {
  it("on timeout, with a grandchild that holds the pipe", async () => {
    const run = await script("sleep 30 & echo $! ; wait");
    let pid = 0;
    const start = Date.now();
    const error = await failure(
      run("xz", [], {
        timeoutMs: 200,
        onLine: (line) => {
          pid = Number(line);
        },
      }),
    );
    expect(error.code).toBe("timed_out");
    expect(Date.now() - start).toBeLessThan(1500);
    expect(pid).toBeGreaterThan(0);
    expect(await isAlive(pid)).toBe(false);
  });

  it("on abort, also when SIGTERM is ignored", async () => {
    const run = await script("trap '' TERM; echo $$; while :; do sleep 0.05; done");
    const controller = new AbortController();
    let pid = 0;
    const start = Date.now();
    const onLine = (line: string) => {
      pid = Number(line);
      controller.abort();
    };
    const error = await failure(run("xz", [], { signal: controller.signal, onLine }));
    expect(error.code).toBe("cancelled");
    expect(Date.now() - start).toBeLessThan(2500);
    expect(await isAlive(pid)).toBe(false);
  });

  it("before it starts when the signal is aborted already", async () => {
    const error = await failure(runTool("xz", ["--version"], { signal: AbortSignal.abort() }));
    expect(error.code).toBe("cancelled");
  });

  it("after success, when something was left behind with the pipe open", async () => {
    const run = await script("sleep 30 & echo $!");
    const start = Date.now();
    const { stdout } = await run("xz", []);
    expect(Date.now() - start).toBeLessThan(2500);
    await sleep(50);
    expect(await isAlive(Number(stdout))).toBe(false);
  });

  it("when we are killed ourselves without a chance to say goodbye", async () => {
    const folder = join(dir, "orphans");
    await mkdir(folder);
    await writeFile(join(folder, "xz"), "#!/bin/sh\necho $$ > pid; sleep 30\n", { mode: 0o755 });
    const run = JSON.stringify(join(import.meta.dirname, "../../../lib/exec/run.ts"));
    const settings = JSON.stringify({ path: `${folder}:/usr/bin:/bin` });
    const program = `import { createRunTool } from ${run}; await createRunTool(${settings})("xz", [], { cwd: ${JSON.stringify(folder)} });`;
    await writeFile(join(folder, "program.mts"), program);
    const tsx = join(import.meta.dirname, "../../../node_modules/tsx/dist/loader.mjs");
    const parent = spawn(process.execPath, ["--import", tsx, join(folder, "program.mts")]);
    let pid = 0;
    while (pid === 0) {
      await sleep(20);
      pid = Number(await readFile(join(folder, "pid"), "utf8").catch(() => "0"));
    }
    parent.kill("SIGKILL");
    await sleep(200);
    expect(await isAlive(pid)).toBe(false);
  });

  it("does not wait for a process that left the group", async () => {
    const run = await script("setsid sleep 6 & echo started");
    const start = Date.now();
    expect((await run("xz", [])).stdout).toBe("started\n");
    expect(Date.now() - start).toBeLessThan(4000);
  });
});

describe("missingTools", () => {
  it("names the package of everything that is not there", async () => {
    const folder = await mkdtemp(join(dir, "path-"));
    await symlink("/usr/bin/xz", join(folder, "xz"));
    const missing = await missingTools(TOOLS_OF_ROLE.worker, folder);
    expect(missing.some((entry) => entry.tool === "xz")).toBe(false);
    expect(missing).toContainEqual({ tool: "mkfs.xfs", package: "xfsprogs" });
    expect(await missingTools(TOOLS_OF_ROLE.web, folder)).toEqual([{ tool: "zstd", package: "zstd" }]);
  });
});
