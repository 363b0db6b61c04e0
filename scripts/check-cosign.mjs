/** `npm run check:cosign`: the checks of docs/verify.md with cosign itself. Builds it with Go the first time (minutes). */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";

const VERSION = "v3.1.3";
const bin = resolve("node_modules/.cache/cosign", VERSION);
const program = join(bin, "cosign");
const search = `${bin}${delimiter}${process.env.PATH}${delimiter}/usr/local/go/bin`;

function run(command, args, env = {}) {
  const done = spawnSync(command, args, { stdio: "inherit", env: { ...process.env, PATH: search, ...env } });
  if (done.error) console.error(`${command} cannot be started: ${done.error.message}`);
  return done.status ?? 1;
}

if (!existsSync(program)) {
  mkdirSync(bin, { recursive: true });
  console.log(`building cosign ${VERSION} into ${bin} …`);
  const go = { GOBIN: bin, CGO_ENABLED: "0" };
  const status = run("go", ["install", `github.com/sigstore/cosign/v3/cmd/cosign@${VERSION}`], go);
  if (status !== 0) process.exit(status);
}
process.exitCode = run(process.execPath, [
  "node_modules/vitest/vitest.mjs",
  "run",
  "--project",
  "integration",
  "tests/integration/verify.test.ts",
]);
