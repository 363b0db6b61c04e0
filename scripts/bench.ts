/**
 * `npm run bench`: builds, rates and memory of the factory on the sample release, against docs/performance.md's targets.
 * Options: --only iso,web,pages  --sample plain|padded  --runs 3  --seconds 5  --json FILE  --steps  --programs DIR
 */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { BUILD_CASES, type BuildCase, type BuildRun, measureBuild } from "./bench/builds.ts";
import { type BenchFactory, startBenchFactory, type Warmth } from "./bench/factory.ts";
import { measurePages, PAGE_CASE } from "./bench/pages.ts";
import { atLeast, atMost, figure, formatTable, machine, median, type Row } from "./bench/report.ts";
import { prepareWeb, WEB_CASES, type WebRun } from "./bench/web.ts";
import { postSchematic } from "./demo/client.ts";

const WARMTHS: readonly Warmth[] = ["first", "cold", "warm"];
/** MB; the most each may hold at once. */
const ROLES = ["web", "worker", "tools"] as const;
const MEMORY_TARGETS = { web: 250, worker: 250, tools: 200 };

const { values: options } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    sample: { type: "string", default: "plain,padded" },
    runs: { type: "string", default: "3" },
    seconds: { type: "string", default: "5" },
    json: { type: "string", default: "data/bench.json" },
    steps: { type: "boolean", default: false },
    programs: { type: "string", default: "dist" },
  },
});
const say = (line: string) => console.error(`bench: ${line}`);
const only = options.only.split(",").filter(Boolean);
const wanted = (name: string) => only.length === 0 || only.includes(name);
const runs = Number(options.runs);

interface Measured {
  rows: Row[];
  builds: { sample: string; name: string; warmth: Warmth; runs: BuildRun[] }[];
  web: { name: string; runs: WebRun[] }[];
}

const measured: Measured = { rows: [], builds: [], web: [] };
const peaks = { web: 0, worker: 0, tools: 0 };

async function main(): Promise<void> {
  const before = machine();
  for (const sample of options.sample.split(",")) {
    const builds = BUILD_CASES.filter(({ name }) => wanted(name) || wanted("builds"));
    const web = sample === "plain" && WEB_CASES.some(({ name }) => wanted(name) || wanted("web"));
    const pages = sample === "plain" && wanted(PAGE_CASE);
    if (builds.length === 0 && !web && !pages) continue;
    const padded = sample === "padded";
    const factory = await startBenchFactory({ padded, programs: options.programs, say });
    try {
      for (const build of builds) await benchBuild(factory, sample, build);
      if (web) await benchWeb(factory);
      if (pages) await benchPages(factory);
    } finally {
      await factory.stop();
    }
  }
  for (const name of ROLES) {
    const target = MEMORY_TARGETS[name];
    const value = peaks[name];
    if (value > 0)
      measured.rows.push(atMost({ group: "peak memory", name, value, unit: "MB", target, notes: "" }));
  }
  console.log(formatTable(measured.rows));
  await mkdir(dirname(options.json), { recursive: true });
  await writeFile(options.json, `${JSON.stringify({ before, after: machine(), ...measured }, null, 1)}\n`);
  say(
    `machine: ${before.processors} processors, load ${before.load[0]} before, ${machine().load[0]} after; ${options.json}`,
  );
}

async function benchBuild(factory: BenchFactory, sample: string, build: BuildCase): Promise<void> {
  const times = Math.min(runs, build.oneOf?.length ?? runs);
  // Nothing of what a file of a release is made of is kept but the file itself.
  for (const warmth of build.oneOf === undefined ? WARMTHS : (["first"] as const)) {
    const results: BuildRun[] = [];
    for (let run = 0; run < times; run += 1) results.push(await measureBuild(factory, build, warmth, run));
    measured.builds.push({ sample, name: build.name, warmth, runs: results });
    const of = (field: "seconds" | "waited" | "workerCpu" | "toolsCpu" | "workerMb" | "toolsMb") =>
      results.map((run) => run[field]);
    peaks.worker = Math.max(peaks.worker, ...of("workerMb"));
    peaks.tools = Math.max(peaks.tools, ...of("toolsMb"));
    const targets = sample === "padded" ? build.paddedTargets : build.targets;
    const notes = `cpu ${figure(median(of("workerCpu")))} + ${figure(median(of("toolsCpu")))} s, waited ${figure(median(of("waited")))} s, worker ${figure(Math.max(...of("workerMb")))} MB, tools ${figure(Math.max(...of("toolsMb")))} MB, file ${figure((results[0]?.sizeBytes ?? 0) / 1e6)} MB`;
    const value = median(of("seconds"));
    const row = { group: sample, name: `${build.name} ${warmth}`, value, unit: "s", notes };
    measured.rows.push(atMost({ ...row, target: targets?.[warmth] ?? null }));
    say(`${sample} ${build.name} ${warmth}: ${figure(value)} s, ${notes}`);
    if (options.steps)
      for (const { title, ms, cached } of results.at(-1)?.steps ?? [])
        if (!cached) say(`    ${ms} ms  ${title}`);
  }
}

async function benchWeb(factory: BenchFactory): Promise<void> {
  const bench = await prepareWeb(factory, Number(options.seconds));
  for (const { name, target = null, measure } of WEB_CASES) {
    if (!wanted(name) && !wanted("web")) continue;
    const results: WebRun[] = [];
    for (let run = 0; run < runs; run += 1) results.push(await measure(bench));
    measured.web.push({ name, runs: results });
    peaks.web = Math.max(peaks.web, ...results.map(({ webMb }) => webMb));
    const unit = name.startsWith("download") ? "MB/s" : "/s";
    const p99 = median(results.map(({ p99Ms }) => p99Ms ?? 0));
    const failures = results.reduce((sum, run) => sum + run.failures, 0);
    const notes = `per cpu second ${figure(median(results.map((run) => run.perCpuSecond)))}, p99 ${figure(p99)} ms, failures ${failures}, web ${figure(Math.max(...results.map(({ webMb }) => webMb)))} MB`;
    const value = median(results.map(({ rate }) => rate));
    measured.rows.push(atLeast({ group: "web", name, value, unit, target, notes }));
    say(`${name}: ${figure(value)} ${unit}, ${notes}`);
  }
}

async function benchPages(factory: BenchFactory): Promise<void> {
  const schematic = await postSchematic(factory.url, "customization: {extraKernelArgs: [pages=1]}");
  const rows = await measurePages(factory, schematic, runs);
  measured.rows.push(...rows);
  for (const { name, value, unit } of rows) say(`${name}: ${figure(value)} ${unit}`);
}

await main();
