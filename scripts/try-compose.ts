/**
 * `npm run try:compose`: Dockerfile and docker-compose.yml for real. Builds the image with a Docker daemon of its own, brings
 * everything up on the sample release, asks for an image, stops and starts again, and prints what held. Needs root and
 * Debian; takes some minutes and some gigabytes. `-- --keep` leaves the daemon's folder, `-- --in=<folder>` works in such a one.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { join, resolve } from "node:path";
import { buildAsset, download, postSchematic, waitForVersion } from "./demo/client.ts";
import { findFreePort, isListening } from "./embedded/free-port.ts";
import { ensureSampleRelease, startSampleRegistry } from "./sample-release/index.ts";
import {
  checkExampleSecretsRefused,
  checkImage,
  checkReadiness,
  checkSandbox,
  checkStop,
  waitForHealth,
} from "./try-compose/checks.ts";
import { onHostNetwork, readComposeFile } from "./try-compose/compose-file.ts";
import { type Docker, removeFolder, startDocker } from "./try-compose/docker.ts";
import { makeStandIns } from "./try-compose/stand-ins.ts";

const IMAGE = "casthouse:local";
const VERSION = "v1.13.2";
const SCHEMATIC =
  "customization:\n  systemExtensions:\n    officialExtensions:\n      - siderolabs/qemu-guest-agent\n";
const BOARD = "overlay:\n  image: siderolabs/sbc-raspberrypi\n  name: rpi_generic\n";
/** Ports of the servers, which all listen on this machine here. */
const PORTS = { postgres: 5432, valkey: 6379, s3: 7070 };
const NODE = "node:24-bookworm-slim";

const started = Date.now();
const passed: string[] = [];
const seconds = (since: number) => `${((Date.now() - since) / 1_000).toFixed(0)} s`;
const say = (line: string) => console.log(`try: ${line}`);

/** Runs one step and writes down that it held. */
async function step(name: string, work: () => Promise<string | undefined>): Promise<void> {
  const start = Date.now();
  say(`${name} …`);
  const note = await work();
  passed.push(`${name} (${seconds(start)})${note ? `: ${note}` : ""}`);
}

async function main(): Promise<void> {
  for (const [name, port] of Object.entries(PORTS))
    if (await isListening(port)) throw new Error(`port ${port} is in use, which ${name} needs here`);
  const cacheDir = resolve(".cache/try-compose");
  mkdirSync(cacheDir, { recursive: true });
  const kept = process.argv.find((word) => word.startsWith("--in="))?.slice("--in=".length);
  const dir = kept ?? (await mkdtemp("/var/tmp/casthouse-try-"));
  say(`working in ${dir}`);
  const { registryDir } = await ensureSampleRelease({ log: (line) => say(`  ${line}`) });
  const registry = await startSampleRegistry({ registryDir });
  try {
    await withDocker(dir, (docker) => tryAll(docker, { dir, cacheDir, registry: registry.url }));
  } finally {
    await registry.stop();
    if (!process.argv.includes("--keep")) await removeFolder(dir);
  }
}

async function withDocker(dir: string, work: (docker: Docker) => Promise<void>): Promise<void> {
  const docker = await startDocker(join(dir, "docker"));
  try {
    await work(docker);
  } finally {
    await docker.stop();
  }
}

interface Place {
  dir: string;
  cacheDir: string;
  registry: string;
}

async function tryAll(docker: Docker, { dir, cacheDir, registry }: Place): Promise<void> {
  const file = readComposeFile();
  const foreign = Object.values(file.services).filter((service) => service.build === undefined);
  const tags = [NODE, ...foreign.map((service) => service.image)];
  await step("stand-ins for base images", async () => {
    await makeStandIns(docker, tags, { cacheDir, scratchDir: join(dir, "images") }, say);
    return tags.join(", ");
  });
  await step("docker build", async () => {
    await docker.docker(["build", "--network=host", "-t", IMAGE, "."]);
    return undefined;
  });
  await step("the image", () => checkImage(docker, IMAGE));
  await step("example passwords refused in public", () => checkExampleSecretsRefused(docker, IMAGE));

  const webPort = await findFreePort();
  const composeFile = join(dir, "compose.json");
  writeFileSync(composeFile, JSON.stringify(onHostNetwork(file, webPort)));
  const variables = { SOURCE_REGISTRY: registry, KEYS_DIR: join(dir, "keys"), COMPOSE_PROJECT_NAME: "try" };
  const bound: Docker = {
    ...docker,
    compose: (args) =>
      docker.compose(["-f", composeFile, "--project-directory", process.cwd(), ...args], variables),
  };
  try {
    await tryFactory(bound, `http://127.0.0.1:${webPort}`, join(dir, "downloads"));
  } finally {
    await bound.compose(["down", "-v", "-t", "10"]);
  }
}

async function tryFactory(docker: Docker, url: string, downloads: string): Promise<void> {
  await step(`${docker.composeName} up`, async () => {
    await docker.compose(["up", "-d"]).catch(async (error: Error) => {
      throw new Error(`${error.message}\n${await docker.compose(["logs", "--tail=15"])}`);
    });
    for (const service of ["postgres", "valkey", "s3", "web"]) await waitForHealth(docker, service, 90_000);
    return "postgres, valkey, s3 and web healthy";
  });
  await step("readiness", () => checkReadiness(url));
  await waitForVersion(url, VERSION, 60_000);
  mkdirSync(downloads, { recursive: true });
  let path = "";
  for (const name of ["metal-amd64.iso", "nocloud-amd64.raw.xz"]) {
    await step(`POST /schematics, build and download ${name}`, async () => {
      path = `/image/${await postSchematic(url, SCHEMATIC)}/${VERSION}/${name}`;
      await buildAsset(url, path, (line) => say(`  ${line}`));
      const { sha256, sizeBytes } = await download(url + path, join(downloads, name));
      return `${(sizeBytes / 1e6).toFixed(1)} MB, SHA-256 ${sha256} as .sha256 says`;
    });
  }
  await step("build an image for a board in the sandbox", async () => {
    const board = `/image/${await postSchematic(url, BOARD)}/${VERSION}/metal-arm64.raw.xz`;
    await buildAsset(url, board, (line) => say(`  ${line}`));
    return undefined;
  });
  await step("rights of the worker", () => checkSandbox(docker));
  await step("migrate again", () => docker.compose(["run", "--rm", "migrate"]));
  await step("worker stops on SIGTERM", () => checkStop(docker, "worker", 10_000));
  await step("web stops on SIGTERM", () => checkStop(docker, "web", 10_000));
  await step("down and up keep everything", async () => {
    await docker.compose(["down", "-t", "20"]);
    await docker.compose(["up", "-d"]);
    await waitForHealth(docker, "web", 90_000);
    const reply = await fetch(url + path, { headers: { Prefer: "respond-async", Range: "bytes=0-0" } });
    await reply.arrayBuffer();
    if (reply.status !== 206) throw new Error(`${path} answers ${reply.status} instead of what was built`);
    return "the image is served without a build";
  });
}

function report(): void {
  for (const line of passed) console.log(`ok     ${line}`);
}

main().then(
  () => {
    report();
    console.log(`\n${passed.length} passed, 0 failed (${seconds(started)})`);
  },
  (error: unknown) => {
    report();
    console.error(`FAILED ${error instanceof Error ? error.message : error}`);
    console.log(`\n${passed.length} passed, 1 failed (${seconds(started)})`);
    process.exitCode = 1;
  },
);
