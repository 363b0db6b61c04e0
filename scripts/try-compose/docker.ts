/** A Docker daemon of one's own that needs no network rights, and the commands that talk to it. */
import { execFile, spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { appendFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { logTail, startAndWait } from "../embedded/server-process.ts";

const execute = promisify(execFile);

export interface Docker {
  /** Runs `docker …` and gives its standard output; everything goes into the log, failure carries its end. */
  docker(args: string[], input?: { cwd?: string }): Promise<string>;
  /** The same for `docker compose` or `docker-compose`, whichever is there. */
  compose(args: string[], env?: Record<string, string>): Promise<string>;
  /** Which program `compose` is, for people. */
  composeName: string;
  stop(): Promise<void>;
}

/** Starts dockerd in `dir`: no bridge and no iptables, so that it runs inside most sandboxes. */
export async function startDocker(dir: string): Promise<Docker> {
  await mkdir(dir, { recursive: true });
  const host = `unix://${join(dir, "docker.sock")}`;
  const logFile = join(dir, "commands.log");
  const env = { ...process.env, DOCKER_HOST: host, DOCKER_BUILDKIT: "0" };
  const answers = async () => spawnSync("docker", ["version"], { env, stdio: "ignore" }).status === 0;
  const daemon = await startAndWait(
    {
      name: "dockerd",
      command: "dockerd",
      args: [
        ...["--iptables=false", "--bridge=none", `--storage-driver=${storageDriver(dir)}`, `--host=${host}`],
        ...[`--data-root=${join(dir, "data")}`, `--exec-root=${join(dir, "exec")}`],
        `--pidfile=${join(dir, "docker.pid")}`,
      ],
      logFile: join(dir, "dockerd.log"),
    },
    answers,
  );
  const run = async (
    program: string[],
    args: string[],
    options: { cwd?: string; env?: Record<string, string> } = {},
  ) => {
    const [command = "docker", ...before] = program;
    await appendFile(logFile, `$ ${[...program, ...args].join(" ")}\n`);
    const result = await execute(command, [...before, ...args], {
      env: { ...env, ...options.env },
      maxBuffer: 1 << 28,
      ...(options.cwd ? { cwd: options.cwd } : {}),
    }).catch(async (error: Error & { stdout?: string; stderr?: string }) => {
      await appendFile(logFile, `${error.stdout ?? ""}${error.stderr ?? ""}`);
      throw new Error(`${[...program, ...args].join(" ")} failed:\n${await logTail(logFile, 40)}`);
    });
    await appendFile(logFile, result.stdout + result.stderr);
    return result.stdout.trim();
  };
  const program = composeProgram(env);
  return {
    docker: (args, options) => run(["docker"], args, options),
    compose: (args, variables) => run(program, args, variables ? { env: variables } : {}),
    composeName: program.join(" "),
    stop: async () => {
      await daemon.stop(60_000);
      // Left mounted by the daemon: the network name space of host networking.
      spawnSync("umount", [join(dir, "exec/netns/default")], { stdio: "ignore" });
    },
  };
}

/** Layers that lie on each other where the kernel lets us, else whole copies, which take far longer. */
function storageDriver(dir: string): string {
  const [lower, upper, work, merged] = ["lower", "upper", "work", "merged"].map((name) =>
    join(dir, "probe", name),
  );
  for (const folder of [lower, upper, work, merged]) mkdirSync(folder ?? dir, { recursive: true });
  const options = `lowerdir=${lower},upperdir=${upper},workdir=${work}`;
  const mounted = spawnSync("mount", ["-t", "overlay", "overlay", "-o", options, merged ?? dir], {
    stdio: "ignore",
  });
  if (mounted.status !== 0) return "vfs";
  return spawnSync("umount", [merged ?? dir], { stdio: "ignore" }).status === 0 ? "overlay2" : "vfs";
}

function composeProgram(env: NodeJS.ProcessEnv): string[] {
  const plugin = spawnSync("docker", ["compose", "version"], { env, stdio: "ignore" });
  return plugin.status === 0 ? ["docker", "compose"] : ["docker-compose"];
}

/** Removes a folder a daemon worked in; what is mounted below it, left by an accident, is not entered. */
export async function removeFolder(dir: string): Promise<void> {
  await execute("rm", ["-rf", "--one-file-system", dir]);
}
