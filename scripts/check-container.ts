/**
 * `npm run check:container`: the tests of the container engine once more, with a Docker daemon of their own instead of
 * bubblewrap. Needs root and Debian, and leaves nothing behind.
 */
import { spawn } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { removeFolder, startDocker } from "./try-compose/docker.ts";

const TESTS = ["run", "--project", "integration", "tests/integration/container-engine.test.ts"];

const dir = await mkdtemp("/var/tmp/casthouse-container-");
const docker = await startDocker(join(dir, "docker"));
try {
  console.log(`Docker ${await docker.docker(["version", "--format", "{{.Server.Version}}"])} in ${dir}`);
  process.exitCode = await runTests(`unix://${join(dir, "docker/docker.sock")}`);
} finally {
  await docker.stop();
  await removeFolder(dir);
}

function runTests(host: string): Promise<number> {
  const env = { ...process.env, CONTAINER_TEST_RUNNER: "docker", DOCKER_HOST: host };
  const child = spawn(process.execPath, ["node_modules/vitest/vitest.mjs", ...TESTS], {
    env,
    stdio: "inherit",
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
}
