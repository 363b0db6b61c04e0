/** Runs the program of an image by docker or podman. Files are copied in and out, so the daemon may see other folders than we do. */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../errors/app-error.ts";
import type { RunResult, RunTool } from "../run.ts";
import { containerFailed, LastLines, lastWords, notStarted } from "./failures.ts";
import { CONTAINER, type ContainerImage, type ContainerJob, type ContainerRunner, LIMITS } from "./types.ts";

type Program = "docker" | "podman";

/** Every container carries it. */
const LABEL = "io.casthouse.build";
/** Names of containers begin with it; behind it is the owner of the work. */
const PREFIX = "casthouse-";
/** Local names of imager images; "localhost" keeps both programs from asking any registry. */
const IMAGE = "localhost/casthouse-imager";
/** Handing over an image of a few hundred megabytes included. */
const CALL_MS = 600_000;
/** Questions that a daemon answers at once, or not at all. */
const QUESTION_MS = 20_000;
const NO_DAEMON =
  "Check that its daemon runs and that the worker's account may use it (DOCKER_HOST), or set BUILD_CONTAINER_RUNNER=bubblewrap.";

export interface DockerOptions {
  run: RunTool;
  program: Program;
  /** DOCKER_HOST, null for the usual socket. */
  host: string | null;
}

interface Client {
  program: Program;
  /** One command that ends soon. */
  call(args: string[], signal?: AbortSignal): Promise<RunResult>;
  /** One that ends at once. */
  ask(args: string[], signal?: AbortSignal): Promise<RunResult>;
  /** One that takes as long as the work. */
  work(args: string[], job: ContainerJob, lines: LastLines): Promise<RunResult>;
}

function clientOf({ run, program, host }: DockerOptions): Client {
  const env = host === null ? {} : { env: { DOCKER_HOST: host } };
  const within = (timeoutMs: number) => (args: string[], signal?: AbortSignal) =>
    run(program, args, { ...env, timeoutMs, ...(signal === undefined ? {} : { signal }) });
  return {
    program,
    call: within(CALL_MS),
    ask: within(QUESTION_MS),
    work: (args, job, lines) =>
      run(program, args, {
        ...env,
        stdin: job.stdin,
        signal: job.signal,
        ...(job.reword === undefined ? {} : { reword: job.reword }),
        onLine: (line) => {
          lines.add(line);
          job.onLine(line);
        },
      }),
  };
}

/** The runner. */
export function dockerRunner(options: DockerOptions): ContainerRunner {
  const client = clientOf(options);
  const loads = new Map<string, Promise<void>>();
  return {
    name: options.program,
    async run(image, job) {
      const tag = `${IMAGE}:${image.key}`;
      await once(loads, tag, () => loadImage(client, image, tag, join(job.temporary, "image"), job));
      await runJob(client, tag, job);
    },
    removeLeftovers: (isAlive, signal) => removeLeftovers(client, isAlive, signal),
  };
}

/** Why the program cannot be used, null when it can. */
export async function dockerTrouble(options: DockerOptions, signal?: AbortSignal): Promise<AppError | null> {
  try {
    await clientOf(options).ask(["version"], signal);
    return null;
  } catch (error) {
    return notStarted("a container", options.program, lastWords(error), NO_DAEMON, error);
  }
}

/** Builds that need the same image at the same time bring it once; a failure is tried again by the next. */
async function once(
  known: Map<string, Promise<void>>,
  name: string,
  work: () => Promise<void>,
): Promise<void> {
  const running = known.get(name) ?? work();
  known.set(name, running);
  try {
    await running;
  } finally {
    // The daemon may lose the image: each build looks again.
    known.delete(name);
  }
}

async function loadImage(
  client: Client,
  image: ContainerImage,
  tag: string,
  folder: string,
  job: ContainerJob,
): Promise<void> {
  const known = await client.call(["image", "inspect", tag], job.signal).then(
    () => true,
    (error: unknown) => {
      if (error instanceof AppError && error.code === "cancelled") throw error;
      return false;
    },
  );
  if (known) return;
  job.onLine(`handing ${image.name} to ${client.program}`);
  await mkdir(folder, { recursive: true });
  try {
    await client.call(["load", "--input", await image.archive(folder, tag)], job.signal);
  } catch (error) {
    throw failedBefore(client, job, error);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runJob(client: Client, tag: string, job: ContainerJob): Promise<void> {
  const name = PREFIX + job.owner;
  const lines = new LastLines();
  try {
    await prepare(client, tag, name, job);
    await client.work(["start", "--attach", "--interactive", name], job, lines).catch((error: unknown) => {
      throw explain(client, job, lines, error);
    });
    const file = join(job.output, job.file);
    await client
      .call(["cp", `${name}:${CONTAINER.output}/${job.file}`, file], job.signal)
      .catch((error: unknown) => {
        // The caller says that the file is missing; what matters is that a failed copy is not taken for one.
        if (!(error instanceof AppError) || error.code !== "tool_failed") throw error;
        if (!/could not find|no such/i.test(lastWords(error))) throw failedBefore(client, job, error);
      });
  } finally {
    await client.call(["rm", "--force", "--volumes", name]).catch(() => undefined);
  }
}

async function prepare(client: Client, tag: string, name: string, job: ContainerJob): Promise<void> {
  const empty = join(job.temporary, "empty");
  await mkdir(empty, { recursive: true });
  try {
    await client.call(["rm", "--force", "--volumes", name]).catch(() => undefined);
    await client.call(["create", ...createArguments(name, job), tag, ...job.args], job.signal);
    const copies = [
      [job.input, CONTAINER.input],
      [empty, CONTAINER.output],
      ...(job.keys === null ? [] : [[job.keys, CONTAINER.keys]]),
    ];
    for (const [from = "", to = ""] of copies)
      await client.call(["cp", `${from}/.`, `${name}:${to}`], job.signal);
  } catch (error) {
    throw failedBefore(client, job, error);
  }
}

const createArguments = (name: string, job: ContainerJob): string[] => [
  ...["--name", name, "--label", `${LABEL}=${job.owner}`, "--interactive", "--pull=never", "--network=none"],
  // The daemon would keep what the program says, a machine configuration perhaps, for as long as the container is there.
  "--log-driver=none",
  ...["--hostname=imager", `--memory=${LIMITS.memoryBytes}`, `--pids-limit=${LIMITS.processes}`],
  ...["--cap-drop=ALL", "--cap-add=DAC_OVERRIDE", "--cap-add=CHOWN", "--cap-add=FOWNER"],
  ...["--security-opt=no-new-privileges", `--ulimit=fsize=${LIMITS.fileBytes}`, "--ulimit=core=0"],
  ...["--env", `HOME=${CONTAINER.temporary}`, "--env", "TZ=UTC"],
];

function failedBefore({ program }: Client, { title }: ContainerJob, error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== "tool_failed") return error;
  return notStarted(title, program, lastWords(error), NO_DAEMON, error);
}

function explain({ program }: Client, { title }: ContainerJob, lines: LastLines, error: unknown): unknown {
  const exitCode = error instanceof AppError ? error.extra.details?.exitCode : undefined;
  return typeof exitCode === "number" ? containerFailed(title, program, exitCode, lines) : error;
}

async function removeLeftovers(
  client: Client,
  isAlive: (owner: string) => Promise<boolean>,
  signal?: AbortSignal,
): Promise<number> {
  const args = ["ps", "--all", "--filter", `label=${LABEL}`, "--format", "{{.Names}}"];
  const { stdout } = await client.ask(args, signal);
  const names = stdout.split("\n").filter((name) => name.startsWith(PREFIX));
  let removed = 0;
  for (const name of names) {
    signal?.throwIfAborted();
    if (await isAlive(name.slice(PREFIX.length))) continue;
    await client.call(["rm", "--force", "--volumes", name], signal).catch(() => undefined);
    removed += 1;
  }
  return removed;
}
