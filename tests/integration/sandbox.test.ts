/** Programs from images in their sandbox: honest ones work, hostile ones find nothing, reach nothing and end. */
import { execFileSync } from "node:child_process";
import { chownSync } from "node:fs";
import { copyFile, lstat, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRunTool } from "../../lib/exec/run.ts";
import { runSandboxed, type SandboxedProgram } from "../../lib/exec/sandbox.ts";
import { asOrdinaryAccount, keepsRoot, ORDINARY } from "../fixtures/ordinary-account.ts";

const run = createRunTool();
const MIB = 1024 * 1024;
let dir: string;
let counter = 0;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "sandbox-"));
  await mkdir(join(dir, "program"));
  await copyFile("/bin/busybox", join(dir, "program/busybox"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function workFolder(): Promise<string> {
  const work = join(dir, `work-${counter++}`);
  await mkdir(work);
  return work;
}

/** Runs a shell script inside; $B is the shell's own multi-call program. */
async function script(text: string, options: Partial<SandboxedProgram> = {}) {
  return runSandboxed(run, {
    title: "the test program",
    program: join(dir, "program"),
    executable: "busybox",
    args: ["sh", "-c", `B=/overlay/busybox\n${text}`],
    stdin: Buffer.from(""),
    timeoutMs: 60_000,
    ...options,
  });
}

/** Processes on this machine whose command line holds the text. */
async function processesWith(text: string): Promise<string[]> {
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    names.map((name) => readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "")),
  );
  return lines.filter((line) => line.includes(text));
}

describe("an honest program", () => {
  it("gets arguments and input, gives output, and writes into its work folder", async () => {
    const work = await workFolder();
    await writeFile(join(work, "given"), "from outside\n");
    const { stdout, stderr } = await script("$B cat; $B cat given; echo made >made; echo said >&2", {
      stdin: Buffer.from("input\n"),
      work,
    });
    expect(stdout).toBe("input\nfrom outside\n");
    expect(stderr).toBe("said\n");
    expect(await readFile(join(work, "made"), "utf8")).toBe("made\n");
    expect((await lstat(join(work, "made"))).uid).toBe(process.getuid?.());
  });

  it("may use folders that it cannot enter, as real root could; afterwards they are ordinary", async () => {
    const work = await workFolder();
    await script("$B mkdir -m 0600 dtb && echo tree >dtb/board.dtb", { work });
    expect((await lstat(join(work, "dtb"))).mode & 0o777).toBe(0o755);
    expect(await readFile(join(work, "dtb/board.dtb"), "utf8")).toBe("tree\n");
  });

  it("has an environment of four names and nothing of ours", async () => {
    process.env.CASTHOUSE_TEST_SECRET = "secret";
    const { stdout } = await script("$B env");
    delete process.env.CASTHOUSE_TEST_SECRET;
    const names = stdout
      .trim()
      .split("\n")
      .map((line) => line.split("=")[0]);
    // The shell adds PWD and the like by itself.
    expect(names.filter((name) => !["PWD", "SHLVL", "OLDPWD", "_"].includes(name ?? "")).sort()).toEqual([
      "HOME",
      "LC_ALL",
      "PATH",
      "TZ",
    ]);
  });

  it("that fails tells its own words", async () => {
    await expect(script("echo one >&2; echo 'no board of that name' >&2; exit 3")).rejects.toMatchObject({
      code: "tool_failed",
      message: "the test program ended with exit code 3: no board of that name",
      extra: { details: { exitCode: 3, tail: "one\nno board of that name" } },
    });
  });

  it("that does not exist is named", async () => {
    await expect(script("", { executable: "missing" })).rejects.toThrow(
      /the test program could not be started in a sandbox: bwrap: execvp \/overlay\/missing/,
    );
  });
});

describe("a hostile program", () => {
  it("sees no file of the machine", async () => {
    const { stdout } = await script(
      "$B ls -a /; echo --; for f in /etc/shadow /etc/passwd /sys/kernel /root /home /usr /var/run; do [ -e $f ] && echo found $f; done; $B cat /etc/shadow || echo nothing",
    );
    const [found, rest] = stdout.trim().split("\n--\n");
    expect(found?.split("\n").filter((name) => name !== "proc")).toEqual([
      ".",
      "..",
      "dev",
      "overlay",
      "tmp",
    ]);
    expect(rest).toBe("nothing");
  });

  it("sees no process but its own, and changes nothing of the kernel", async () => {
    const { stdout, stderr } = await script(
      "[ -d /proc ] || exit 0; $B ls /proc | $B grep -c '^[0-9]'; for f in kernel/core_pattern vm/drop_caches kernel/hostname; do echo 1 >/proc/sys/$f; done; echo b >/proc/sysrq-trigger; $B cat /proc/1/environ",
    ).catch((error: unknown) => ({ stdout: "", stderr: String(error) }));
    if (stdout !== "") expect(Number(stdout.split("\n")[0])).toBeLessThan(8);
    expect(stderr).not.toMatch(/secret/i);
    expect(await readFile("/proc/sys/kernel/core_pattern", "utf8")).not.toBe("1\n");
  });

  it("writes nowhere but into its work folder", async () => {
    const work = await workFolder();
    const { stderr, stdout } = await script(
      "for p in /x /dev/x /dev/shm/x /overlay/x /overlay/busybox; do echo x >$p; done; $B rm -rf /overlay/busybox; $B mknod n b 7 0; $B ls -A",
      { work },
    );
    expect(stderr.match(/Read-only file system/g)?.length).toBeGreaterThanOrEqual(5);
    expect(stderr).toMatch(/n: Operation not permitted/);
    expect(stdout).toBe("");
    expect((await lstat(join(dir, "program/busybox"))).size).toBeGreaterThan(0);
  });

  it("has no right but that on its own folders, and can win none back", async () => {
    const { stdout } = await script(
      "$B id -u; $B mount -t tmpfs x /tmp 2>&1; $B unshare -U true 2>&1; $B chroot / 2>&1; $B hostname x 2>&1; true",
    );
    expect(stdout).toMatch(/^0\n/);
    expect(stdout.match(/not permitted|No space left|denied/g)?.length).toBeGreaterThanOrEqual(4);
  });

  it("reaches no socket of the machine", async () => {
    const server = await listening();
    const { port } = server.address() as { port: number };
    const { stdout } = await script(
      `$B nc -w 2 127.0.0.1 ${port} </dev/null && echo reached; $B nc -w 2 192.0.2.1 80 </dev/null && echo routed; $B ip -o link | $B wc -l`,
    );
    server.close();
    expect(stdout.trim()).toBe("1");
  });

  it("that forks without end meets its limit, and nothing of it is left", async () => {
    const mark = `fork-mark-${process.pid}`;
    let most = 0;
    const counting = setInterval(async () => {
      most = Math.max(most, (await processesWith(mark)).length);
    }, 300);
    const result = await script(
      `n=0; while [ $n -lt 400 ]; do $B sh -c ": ${mark}; /overlay/busybox sleep 987; :" & n=$((n+1)); done; wait`,
      {
        timeoutMs: 8_000,
      },
    ).catch((error: unknown) => error);
    clearInterval(counting);
    expect(result instanceof Error ? result.message : JSON.stringify(result)).toMatch(
      /can't fork|did not finish within 8 s/,
    );
    expect(most).toBeLessThan(200);
    expect(await processesWith(mark)).toEqual([]);
  }, 30_000);

  it("that hangs and ignores signals ends with its time", async () => {
    const mark = `hang-mark-${process.pid}`;
    const started = performance.now();
    await expect(
      script(`: ${mark}; trap '' TERM INT HUP; while :; do $B sleep 1; done`, { timeoutMs: 1_500 }),
    ).rejects.toMatchObject({
      code: "timed_out",
      message: "the test program did not finish within 2 s and was stopped",
    });
    expect(performance.now() - started).toBeLessThan(15_000);
    expect(await processesWith(mark)).toEqual([]);
  }, 30_000);

  it("that ends but leaves a process behind leaves none", async () => {
    const mark = `left-mark-${process.pid}`;
    await script(`( : ${mark}; $B sleep 900 ) </dev/null >/dev/null 2>&1 & echo started`);
    expect(await processesWith(mark)).toEqual([]);
  });

  it("that fills the disk is stopped early", async () => {
    const work = await workFolder();
    await expect(
      script("n=0; while :; do $B head -c 8000000 /dev/zero >f$n; n=$((n+1)); done", {
        work,
        workBytes: 32 * MIB,
      }),
    ).rejects.toThrow("the test program was stopped: it wrote more than 32 MiB");
    const used = Number(execFileSync("du", ["-sm", work], { encoding: "utf8" }).split("\t")[0]);
    expect(used).toBeLessThan(1500);
  }, 30_000);

  it("cannot write a file longer than allowed, nor fill its temporary folder", async () => {
    const work = await workFolder();
    const { stdout } = await script(
      "$B dd if=/dev/zero of=big bs=1M count=20 2>/dev/null; $B stat -c %s big; $B head -c 100000000 /dev/zero >/tmp/big; $B stat -c %s /tmp/big",
      { work, fileBytes: 5 * MIB },
    );
    const [limited, temporary] = stdout.trim().split("\n").map(Number);
    expect(limited).toBeLessThanOrEqual(5 * MIB);
    expect(temporary).toBeLessThanOrEqual(64 * MIB);
  });

  it("that takes memory without end is stopped", async () => {
    await expect(script("$B awk 'BEGIN { s = \"x\"; while (1) s = s s }'")).rejects.toThrow(
      /stopped: it used more than 1024 MiB|out of memory|exit code/i,
    );
  }, 60_000);

  it("that makes files without end is stopped", async () => {
    const work = await workFolder();
    await expect(
      script("n=0; while :; do echo >f$n; n=$((n+1)); done", {
        work,
        workBytes: 1024 * MIB,
        timeoutMs: 50_000,
      }),
    ).rejects.toThrow("it made more than 20000 files");
  }, 60_000);

  it("dies with the build", async () => {
    const mark = `abort-mark-${process.pid}`;
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 1_000);
    await expect(
      script(`: ${mark}; while :; do $B sleep 1; done`, { signal: controller.signal }),
    ).rejects.toMatchObject({ code: "cancelled" });
    expect(await processesWith(mark)).toEqual([]);
  });
});

// An ordinary account runs all of the above as such.
if (process.getuid?.() === 0)
  it("works the same when an ordinary account starts it", async ({ skip }) => {
    const reason = keepsRoot();
    if (reason !== null) skip(reason);
    const home = await mkdtemp(join(tmpdir(), "sandbox-plain-"));
    await mkdir(join(home, "work"));
    for (const path of [home, join(home, "work")]) chownSync(path, ORDINARY, ORDINARY);
    const code = `
      import { createRunTool } from "${join(import.meta.dirname, "../../lib/exec/run.ts")}";
      import { runSandboxed } from "${join(import.meta.dirname, "../../lib/exec/sandbox.ts")}";
      const script = "/overlay/busybox id -u; echo x > /x; /overlay/busybox mkdir -m 0600 d; echo y > d/f; /overlay/busybox ls /";
      const { stdout } = await runSandboxed(createRunTool(), {
        title: "t", program: "/tmp/casthouse-plain-program", executable: "busybox", args: ["sh", "-c", script],
        stdin: Buffer.from(""), work: "${home}/work", timeoutMs: 60000,
      });
      console.log(stdout);`;
    await rm("/tmp/casthouse-plain-program", { recursive: true, force: true });
    await mkdir("/tmp/casthouse-plain-program");
    await copyFile("/bin/busybox", "/tmp/casthouse-plain-program/busybox");
    try {
      const output = await asOrdinaryAccount(code);
      expect(output.split("\n").filter((name) => name !== "" && name !== "proc")).toEqual([
        "0",
        "dev",
        "overlay",
        "tmp",
        "work",
      ]);
      expect(await readFile(join(home, "work/d/f"), "utf8")).toBe("y\n");
    } finally {
      await rm(home, { recursive: true, force: true });
      await rm("/tmp/casthouse-plain-program", { recursive: true, force: true });
    }
  }, 60_000);

function listening(): Promise<Server> {
  const server = createServer((socket) => socket.end());
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}
