/** `npm run check:node24`: the checks on Node 24, which the container image uses. */
import { execFileSync, spawnSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { fetchNode24 } from "./checks/node24.mjs";

const bin = fetchNode24();
const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
const node = join(bin, "node");
console.log(`running the checks on Node ${execFileSync(node, ["--version"], { encoding: "utf8" }).trim()}`);
const result = spawnSync(node, ["node_modules/tsx/dist/cli.mjs", "scripts/check.ts"], {
  env,
  stdio: "inherit",
});
process.exitCode = result.status ?? 1;
