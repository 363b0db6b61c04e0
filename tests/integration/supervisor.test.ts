/** `npm start` with stand-ins for web and worker: start, stop, refusal, crash of a part, crash of itself. */
import { type ChildProcess, spawn } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { findFreePort, isListening, waitUntil } from "../../scripts/embedded/free-port.ts";
import { clearPostgresLock, endLeftovers } from "../../scripts/supervisor/leftovers.ts";
import { identify, isSame } from "../../scripts/supervisor/process-identity.ts";
import { createTestDatabase } from "../fixtures/postgres.ts";
import { createTestRedis } from "../fixtures/redis.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const WEB = `
import { createServer } from "node:http";
const server = createServer((request, response) => response.end(request.url === "/env" ? JSON.stringify(process.env) : "ok"));
server.listen(Number(process.env.PORT), "127.0.0.1");
process.on("SIGTERM", () => { console.log("web stops"); server.close(); server.closeAllConnections(); });
`;
const WORKER = `
console.log("worker is ready");
const timer = setInterval(() => {}, 1000);
process.on("SIGTERM", () => { console.log("worker stops"); clearInterval(timer); });
`;

let place: string;
let port: number;
const running = new Set<ChildProcess>();

beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), "casthouse-supervisor-"));
  mkdirSync(join(place, "dist"));
  writeFileSync(join(place, "dist/web.mjs"), WEB);
  writeFileSync(join(place, "dist/worker.mjs"), WORKER);
  cpSync(join(PROJECT, "prisma"), join(place, "prisma"), { recursive: true });
  symlinkSync(join(PROJECT, "node_modules"), join(place, "node_modules"));
  port = await findFreePort();
});
afterEach(async () => {
  for (const child of running) child.kill("SIGKILL");
  running.clear();
});
afterAll(async () => {
  await sleep(500);
  rmSync(place, { recursive: true, force: true });
});

function start(variables: Record<string, string> = {}) {
  const child = spawn(
    process.execPath,
    // The loader, not its command: that one ends by itself when a signal is answered slowly.
    [
      "--import",
      pathToFileURL(join(PROJECT, "node_modules/tsx/dist/loader.mjs")).href,
      join(PROJECT, "scripts/supervisor.ts"),
    ],
    {
      cwd: place,
      env: { ...process.env, PORT: String(port), ...variables },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  running.add(child);
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  child.stderr.on("data", (chunk) => {
    output += chunk;
  });
  const exited = new Promise<number | null>((done) => child.once("exit", (code) => done(code)));
  const says = (text: string, timeoutMs = 60_000) =>
    waitUntil(
      `"${text}" in the output`,
      async () => output.includes(text),
      timeoutMs,
      () => (child.exitCode !== null && !output.includes(text) ? output : undefined),
    );
  return { child, output: () => output, says, exited };
}

/** tsx runs the program in a child of its own; the lock names the real supervisor. */
const pidOf = (name: string): number =>
  JSON.parse(readFileSync(join(place, "data/run", `${name}.json`), "utf8")).pid;

async function webVariables(): Promise<Record<string, string>> {
  return (await fetch(`http://127.0.0.1:${port}/env`)).json();
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

describe("npm start", () => {
  it("starts everything, says one address, refuses a second one, stops in order", async () => {
    const first = start();
    await first.says("ready at");
    expect(first.output().match(/ready at http:\/\/localhost:\d+ \(after [\d.]+ s\)/g)).toHaveLength(1);
    expect(first.output()).toMatch(/SecureBoot keys made in \S+\/keys\/secureboot; keep a copy/);
    const env = await webVariables();
    expect(env).toMatchObject({
      CASTHOUSE_EMBEDDED: "1",
      NODE_ENV: "production",
      DATA_DIR: join(place, "data"),
    });
    expect(await query(env.DATABASE_URL ?? "", "select 1 from schematic limit 1")).toEqual([]);
    await query(env.DATABASE_URL ?? "", "create table kept as select 7 as seven");

    const second = start({ PORT: String(await findFreePort()) });
    expect(await second.exited).toBe(75);
    expect(second.output()).toContain(`already uses ${join(place, "data")}`);

    const pids = ["web", "worker", "Redis", "Postgres"].map(pidOf);
    first.child.kill("SIGTERM");
    expect(await first.exited).toBe(0);
    expect(first.output()).toContain("casthouse: stopped");
    expect(pids.map((pid) => identify(pid))).toEqual([null, null, null, null]);
    expect(await isListening(port)).toBe(false);
    expect(readdirSync(join(place, "data/run"))).toEqual([]);
    expect(readFileSync(join(place, "data/log/web.log"), "utf8")).toContain("web stops");
    expect(readFileSync(join(place, "data/log/postgres.log"), "utf8")).toContain(
      "database system is shut down",
    );
  });

  it("starts a part again that was killed, and says so", async () => {
    const factory = start();
    await factory.says("ready at");
    for (const name of ["web", "worker", "Redis", "Postgres"]) {
      const pid = pidOf(name);
      process.kill(pid, "SIGKILL");
      await factory.says(`${name} ended (killed by SIGKILL), starting it again`);
      await factory.says(`${name} is running again`);
      expect(pidOf(name)).not.toBe(pid);
    }
    expect(await query((await webVariables()).DATABASE_URL ?? "", "select seven from kept")).toEqual([
      { seven: 7 },
    ]);
    factory.child.kill("SIGTERM");
    expect(await factory.exited).toBe(0);
  });

  it("cleans up after its own death by kill -9, and keeps the data", async () => {
    const first = start();
    await first.says("ready at");
    const pids = ["web", "worker", "Redis", "Postgres"].map(pidOf);
    process.kill(pidOf("supervisor"), "SIGKILL");
    await first.exited;
    const second = start();
    await second.says("ready at");
    for (const pid of pids) expect(identify(pid)).toBeNull();
    expect(await query((await webVariables()).DATABASE_URL ?? "", "select seven from kept")).toEqual([
      { seven: 7 },
    ]);
    second.child.kill("SIGINT");
    expect(await second.exited).toBe(0);
  });

  it("takes over a lock whose number belongs to another process by now", async () => {
    mkdirSync(join(place, "data/run"), { recursive: true });
    writeFileSync(
      join(place, "data/run/supervisor.json"),
      JSON.stringify({ ...identify(process.pid), startTicks: "1" }),
    );
    const factory = start();
    await factory.says("ready at");
    factory.child.kill("SIGTERM");
    expect(await factory.exited).toBe(0);
  });

  it("reports every configuration problem at once and ends with 78", async () => {
    const factory = start({ PORT: "x", STORAGE: "tape", SOURCE_VERIFY: "sometimes" });
    expect(await factory.exited).toBe(78);
    for (const name of ["PORT", "STORAGE", "SOURCE_VERIFY"])
      expect(factory.output()).toContain(`configuration error: ${name} `);
  });

  it("says which port is taken", async () => {
    const { createServer } = await import("node:http");
    const other = createServer().listen(port, "127.0.0.1");
    const factory = start();
    expect(await factory.exited).toBe(1);
    expect(factory.output()).toContain(`port ${port} is in use`);
    other.close();
  });

  it("starts no server that is configured to be elsewhere", async () => {
    const [database, redis] = [await createTestDatabase(), await createTestRedis()];
    const variables = { DATABASE_URL: database, REDIS_URL: redis.url, DATA_DIR: join(place, "lean") };
    const factory = start(variables);
    await factory.says("ready at");
    expect(await webVariables()).toMatchObject(variables);
    expect(readdirSync(join(place, "lean/run")).sort()).toEqual([
      "supervisor.json",
      "web.json",
      "worker.json",
    ]);
    factory.child.kill("SIGTERM");
    expect(await factory.exited).toBe(0);
  });

  it("gives up with the reason when the web process cannot start", async () => {
    writeFileSync(join(place, "dist/web.mjs"), 'console.error("no pages here"); process.exit(3);');
    const factory = start();
    expect(await factory.exited).toBe(1);
    expect(factory.output()).toContain("web did not start: exit code 3");
    expect(factory.output()).toContain("no pages here");
    writeFileSync(join(place, "dist/web.mjs"), WEB);
  });
});

describe("leftovers", () => {
  it("ends a recorded process, but not another one that has its number now", async () => {
    const dir = join(place, "leftovers");
    mkdirSync(join(dir, "run"), { recursive: true });
    const [ours, theirs] = [
      spawn("sleep", ["60"], { detached: true }),
      spawn("sleep", ["60"], { detached: true }),
    ];
    const mine = identify(ours.pid ?? 0);
    const other = identify(theirs.pid ?? 0);
    if (!mine || !other) throw new Error("the processes did not start");
    writeFileSync(join(dir, "run/web.json"), JSON.stringify(mine));
    writeFileSync(join(dir, "run/worker.json"), JSON.stringify({ ...other, startTicks: "12345" }));
    expect(await endLeftovers(dir)).toEqual(["web"]);
    expect(isSame(mine)).toBe(false);
    expect(isSame(other)).toBe(true);
    theirs.kill();
  });

  it("removes a postmaster.pid that names a process which is no Postgres of this folder", async () => {
    const dir = join(place, "cluster");
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, "postmaster.pid"), `${process.pid}\n/somewhere\n`);
    await clearPostgresLock(dir);
    expect(readdirSync(dir)).toEqual([]);
  });
});
