/**
 * Makes a fresh clone ready: Debian packages, npm packages, generated code, pages and programs; each only when missing
 * or stale. Needs nothing but Node. npm's pre scripts call `node scripts/setup.mjs <goal>`; the goals are below.
 */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { withSetupLock } from "./setup/files.mjs";
import {
  bundlesStep,
  debianStep,
  npmStep,
  pagesStep,
  postgresLinksStep,
  prismaStep,
} from "./setup/steps.mjs";

const code = [npmStep, postgresLinksStep, prismaStep];
const programs = [bundlesStep, pagesStep];
const goals = {
  code,
  dev: [debianStep("run"), ...code],
  check: [debianStep("test"), ...code],
  build: [...code, ...programs],
  run: [debianStep("run"), ...code, ...programs],
  demo: [debianStep("demo"), ...code, ...programs],
  compose: [debianStep("compose"), ...code],
  test: [debianStep("test"), ...code, ...programs],
  boots: [debianStep("boots"), ...code, ...programs],
};

const say = (line) => console.log(`setup: ${line}`);

function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19))
    throw new Error(`Node 20.19 or newer is needed, this is ${process.versions.node}`);
}

async function main() {
  requireNode();
  process.chdir(dirname(dirname(fileURLToPath(import.meta.url))));
  const goal = process.argv[2] ?? "run";
  const steps = goals[goal];
  if (!steps) throw new Error(`unknown goal ${goal}; known: ${Object.keys(goals).join(", ")}`);
  await withSetupLock(say, async () => {
    for (const step of steps) {
      const why = step.needed();
      if (!why) continue;
      say(`${step.title}${typeof why === "string" ? `: ${why}` : ""} …`);
      const start = Date.now();
      await step.run(say);
      say(`${step.title} ready (${((Date.now() - start) / 1000).toFixed(1)} s)`);
    }
  });
}

main().catch((error) => {
  console.error(`setup: ${error.message}`);
  process.exitCode = 1;
});
