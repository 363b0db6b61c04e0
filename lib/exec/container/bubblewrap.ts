/** Runs the program of an image under bubblewrap: no daemon, no root, no network. docs/engines.md says what it can do. */
import { lstat, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../errors/app-error.ts";
import type { RunTool } from "../run.ts";
import { AS_NOBODY, areRoot, giveAway, NOBODY, takeBack } from "../sandbox-account.ts";
import { hasFeature, withSandboxFeatures } from "../sandbox-features.ts";
import { countTasks, SandboxWatch } from "../sandbox-watch.ts";
import type { ToolName } from "../tools.ts";
import { containerFailed, containerStopped, LastLines, lastWords, notStarted } from "./failures.ts";
import { CONTAINER, type ContainerImage, type ContainerJob, type ContainerRunner, LIMITS } from "./types.ts";

const NAME = "bubblewrap";
/** Folder in the outer sandbox where the inner one finds what it may show. */
const STAGE = "/tmp/stage";
/** Names at the top of an image that the sandbox makes itself. */
const OWN = new Set(["dev", "proc", "sys", "run", "tmp", "input", "secureboot", "out"]);
const NO_NAMESPACES =
  "bubblewrap needs user namespaces; docs/engines.md says how to allow them. BUILD_CONTAINER_RUNNER=docker needs none.";

/** Folders of this machine by what they are inside. */
interface Places {
  root: string;
  input: string;
  keys: string | null;
  output: string;
  temporary: string;
}

/** The runner. Whatever happens to this process, the kernel ends the program with it. */
export function bubblewrapRunner(run: RunTool): ContainerRunner {
  return {
    name: NAME,
    run: (image, job) => runJob(run, image, job),
    // Nothing outlives the process.
    removeLeftovers: () => Promise.resolve(0),
  };
}

/** Why this machine cannot run it, null when it can. */
export async function bubblewrapTrouble(run: RunTool, signal?: AbortSignal): Promise<AppError | null> {
  const probe = ["bwrap", "--unshare-all", "--unshare-user", "--ro-bind", "/", "/", "--", "/bin/true"];
  const [tool, args] = asAnyone(areRoot(), ["--dev-bind", "/", "/"], probe);
  try {
    await run(tool, args, { timeoutMs: 20_000, ...(signal === undefined ? {} : { signal }) });
    return null;
  } catch (error) {
    return notStarted("a container", NAME, lastWords(error), NO_NAMESPACES, error);
  }
}

async function runJob(run: RunTool, image: ContainerImage, job: ContainerJob): Promise<void> {
  const isRoot = areRoot();
  const places = { ...job, root: await image.rootfs() };
  const lines = new LastLines();
  const watch = new SandboxWatch({
    memoryBytes: LIMITS.memoryBytes,
    work: join(job.output, ".."),
    workBytes: LIMITS.diskBytes,
    workFiles: LIMITS.diskFiles,
  });
  const own = [job.output, job.temporary, ...(job.keys === null ? [] : [job.keys])];
  if (isRoot) for (const folder of own) await giveAway(folder, NOBODY);
  try {
    await withSandboxFeatures(async () => {
      const [tool, args] = await commandOf(image, job, places, isRoot);
      await run(tool, args, {
        stdin: job.stdin,
        signal: AbortSignal.any([job.signal, watch.signal]),
        onStart: (pid) => watch.start(pid),
        ...(job.reword === undefined ? {} : { reword: job.reword }),
        onLine: (line) => {
          lines.add(line);
          job.onLine(line);
        },
      });
    });
  } catch (error) {
    throw explain(error, job.title, watch.complaint, lines);
  } finally {
    watch.stop();
    for (const folder of own) await takeBack(folder, isRoot);
  }
}

/**
 * As an ordinary account: one bubblewrap. As root: a first one, as root, puts the folders where any account reaches
 * them; then the account is given up for good, and the rest is as above.
 */
async function commandOf(
  image: ContainerImage,
  job: ContainerJob,
  places: Places,
  isRoot: boolean,
): Promise<[ToolName, string[]]> {
  const uid = isRoot ? NOBODY : (process.getuid?.() ?? NOBODY);
  const limits = [
    `--nproc=${LIMITS.processes + (await countTasks(uid))}`,
    `--fsize=${LIMITS.fileBytes}`,
    `--nofile=${LIMITS.openFiles}`,
    "--core=0",
  ];
  const staged: Places = isRoot
    ? {
        root: `${STAGE}/root`,
        input: `${STAGE}/input`,
        keys: places.keys === null ? null : `${STAGE}/keys`,
        output: `${STAGE}/output`,
        temporary: `${STAGE}/temporary`,
      }
    : places;
  const top = await topOf(places.root, staged.root);
  const inner = ["prlimit", ...limits, "--", "bwrap", ...innerArguments(image, job, staged, top)];
  return asAnyone(isRoot, stageArguments(places, staged), inner);
}

function asAnyone(isRoot: boolean, stage: string[], inner: string[]): [ToolName, string[]] {
  if (isRoot) return ["bwrap", [...stage, "--", ...AS_NOBODY, ...inner]];
  const [program, ...args] = inner;
  return [program === "bwrap" ? "bwrap" : "prlimit", args];
}

const stageArguments = (places: Places, staged: Places): string[] => [
  ...["--unshare-pid", "--unshare-net", "--unshare-ipc", "--die-with-parent", "--dev-bind", "/", "/"],
  ...["--perms", "0755", "--tmpfs", "/tmp", "--perms", "0755", "--dir", STAGE],
  ...["--ro-bind", places.root, staged.root, "--ro-bind", places.input, staged.input],
  ...(places.keys === null || staged.keys === null ? [] : ["--ro-bind", places.keys, staged.keys]),
  ...["--bind", places.output, staged.output, "--bind", places.temporary, staged.temporary],
];

/** Root inside, nobody outside; the image read-only, four folders of ours, a /dev without devices of the machine. */
function innerArguments(
  { settings }: ContainerImage,
  job: ContainerJob,
  from: Places,
  top: string[],
): string[] {
  return [
    ...["--unshare-all", "--unshare-user", "--uid", "0", "--gid", "0", "--die-with-parent", "--new-session"],
    ...[
      "--cap-drop",
      "ALL",
      ...["CAP_DAC_OVERRIDE", "CAP_CHOWN", "CAP_FOWNER"].flatMap((c) => ["--cap-add", c]),
    ],
    ...(hasFeature("noNesting") ? ["--disable-userns"] : []),
    ...["--clearenv", ...environmentOf(settings.env), "--hostname", "imager"],
    ...top,
    ...["--dev", "/dev", "--remount-ro", "/dev", ...(hasFeature("proc") ? ["--proc", "/proc"] : [])],
    ...["--size", String(64 * 1024 * 1024), "--tmpfs", "/run", "--bind", from.temporary, CONTAINER.temporary],
    ...["--ro-bind", from.input, CONTAINER.input, "--bind", from.output, CONTAINER.output],
    ...(from.keys === null ? [] : ["--ro-bind", from.keys, CONTAINER.keys]),
    ...["--remount-ro", "/", "--chdir", settings.workingDir || "/"],
    ...["--", ...settings.entrypoint, ...job.args],
  ];
}

/** Variables of the image, and a home that can be written to. */
function environmentOf(env: string[]): string[] {
  const variables = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", TZ: "UTC" };
  const image = Object.fromEntries(env.map((pair) => pair.split(/=(.*)/s, 2)));
  return Object.entries({ ...variables, ...image, HOME: CONTAINER.temporary }).flatMap(([name, value]) => [
    "--setenv",
    name,
    String(value ?? ""),
  ]);
}

/** Shows what is at the top of the image, one by one, so that mount points can be made beside it. */
async function topOf(root: string, from: string): Promise<string[]> {
  const args: string[] = [];
  for (const name of (await readdir(root)).sort()) {
    if (OWN.has(name)) continue;
    const stats = await lstat(join(root, name));
    if (stats.isSymbolicLink()) args.push("--symlink", await readlink(join(root, name)), `/${name}`);
    else args.push("--ro-bind", join(from, name), `/${name}`);
  }
  return args;
}

function explain(error: unknown, title: string, complaint: string | null, lines: LastLines): unknown {
  if (!(error instanceof AppError)) return error;
  if (complaint !== null) return containerStopped(title, NAME, complaint, lines);
  if (["cancelled", "timed_out", "out_of_space"].includes(error.code)) return error;
  const { exitCode, signal } = error.extra.details ?? {};
  if (typeof exitCode === "number") {
    if (lines.last.startsWith("bwrap: ")) return notStarted(title, NAME, lines.last, NO_NAMESPACES, error);
    return containerFailed(title, NAME, exitCode, lines);
  }
  return typeof signal === "string" ? containerFailed(title, NAME, 137, lines) : error;
}
