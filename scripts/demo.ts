/** `npm run demo`: the factory on the sample release, from schematic to a booted machine. `-- --once` stops after showing it. */
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { exitWithProblems } from "../lib/config/load.ts";
import { bootInQemu } from "./boot/qemu.ts";
import { buildAsset, download, postSchematic, waitForVersion } from "./demo/client.ts";
import { ensureSampleRelease, startSampleRegistry } from "./sample-release/index.ts";
import { type RunningFactory, startFactory, WrongConfiguration } from "./supervisor/factory.ts";

const VERSION = "v1.13.2";
const ASSETS = ["metal-amd64.iso", "nocloud-amd64.raw.xz"];
const SCHEMATIC =
  "customization:\n  systemExtensions:\n    officialExtensions:\n      - siderolabs/qemu-guest-agent\n";
/** What the public service gives for this text: IDs name the choice, not the factory. */
const EXPECTED_ID = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515";

const once = process.argv.includes("--once");
const dataDir = process.env.DATA_DIR || "data/demo";
const node = [process.execPath];
const started = Date.now();
const say = (line: string) => console.log(`demo: ${line}`);
const seconds = (since: number) => `${((Date.now() - since) / 1000).toFixed(1)} s`;

/** Ended in this order: the factory first, its source after it. */
const running: { stop(): Promise<void> }[] = [];
let ending = false;

async function end(exitCode: number): Promise<void> {
  if (ending) return;
  ending = true;
  for (const part of running.reverse()) await part.stop();
  process.exit(exitCode);
}

async function start(): Promise<RunningFactory> {
  say("sample release (built once, from Debian packages) …");
  const { registryDir } = await ensureSampleRelease({ log: (line) => say(`  ${line}`) });
  const registry = await startSampleRegistry({ registryDir });
  running.push(registry);
  const factory = await startFactory({
    // The sample is unsigned: a key made here would sign what was made here. Pages say that nothing is checked.
    environment: { SOURCE_REGISTRY: registry.url, SOURCE_VERIFY: "off", DATA_DIR: dataDir },
    programs: { web: [...node, "dist/web.mjs"], worker: [...node, "dist/worker.mjs"] },
    say,
    onHopeless: (reason, exitCode) => {
      console.error(`demo: ${reason}`);
      void end(exitCode);
    },
  });
  running.push(factory);
  await waitForVersion(factory.url, VERSION, 60_000);
  say(`ready at ${factory.externalUrl} (after ${seconds(started)})`);
  return factory;
}

async function show(factory: RunningFactory): Promise<boolean> {
  const id = await postSchematic(factory.url, SCHEMATIC);
  console.log(`\nschematic ${id}`);
  if (id !== EXPECTED_ID) throw new Error(`the schematic ID should be ${EXPECTED_ID}`);
  const folder = join(dataDir, "demo-downloads");
  await mkdir(folder, { recursive: true });
  for (const name of ASSETS) {
    const path = `/image/${id}/${VERSION}/${name}`;
    const begin = Date.now();
    await buildAsset(factory.url, path, (line) => say(`${name}: ${line}`));
    const file = await download(factory.url + path, join(folder, name));
    console.log(`\n${factory.externalUrl}${path}`);
    console.log(
      `  SHA-256 ${file.sha256}\n  ${(file.sizeBytes / 1e6).toFixed(1)} MB, ready after ${seconds(begin)}`,
    );
  }
  return boot(join(folder, ASSETS[0] ?? ""), id);
}

/** True when the ISO booted and the system in it saw the schematic, or when there is no QEMU to try it. */
async function boot(iso: string, id: string): Promise<boolean> {
  if (!existsSync("/usr/bin/qemu-system-x86_64")) {
    console.log("\nboot: not tried, qemu-system-x86 is not installed");
    return true;
  }
  say("booting the ISO in QEMU …");
  const result = await bootInQemu({ medium: { kind: "iso", path: iso, firmware: "bios" } });
  const { markers } = result;
  const ok =
    result.ok &&
    markers.schematic === id &&
    markers.extensions.some((extension) => extension.name.includes("qemu-guest-agent"));
  console.log(
    `\nboot: ${ok ? "ok" : "FAILED"} (${result.accelerator}, ${(result.durationMs / 1000).toFixed(1)} s)`,
  );
  if (ok) {
    console.log(`  the machine says: schematic ${markers.schematic}`);
    console.log(
      `  extensions ${markers.extensions.map(({ name, version }) => `${name} ${version}`).join(", ")}`,
    );
  } else {
    console.log(result.serial.split("\n").slice(-25).join("\n"), result.qemuErrors);
  }
  return ok;
}

async function main(): Promise<void> {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => void end(once ? 130 : 0));
  const factory = await start();
  const ok = await show(factory);
  if (once || !ok) return end(ok ? 0 : 1);
  console.log(`\nThe factory stays up: open ${factory.externalUrl} in a browser, end with Ctrl-C.`);
}

main().catch(async (error: unknown) => {
  if (error instanceof WrongConfiguration) exitWithProblems(error.problems);
  console.error(`demo: ${error instanceof Error ? error.message : error}`);
  await end(1);
});
