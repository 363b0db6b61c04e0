/** The whole factory on one machine: Postgres, Redis, web and worker, started in order and stopped in reverse. */
import { randomBytes } from "node:crypto";
import { mkdir, open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inDataDir } from "../../lib/config/data-folders.ts";
import { readEnvironment } from "../../lib/config/environment.ts";
import { dataDirOf } from "../../lib/config/load.ts";
import { isLoopback } from "../../lib/config/own-extensions.ts";
import type { Settings } from "../../lib/config/schema.ts";
import { type Problem, readSettings } from "../../lib/config/settings.ts";
import { migrate } from "../../lib/db/migrate.ts";
import { ensureKeys } from "../../lib/keys/create-keys.ts";
import { findFreePort, isListening } from "../embedded/free-port.ts";
import {
  ensureCluster,
  ensureDatabase,
  postgresAnswers,
  postgresServer,
  postgresUrl,
} from "../embedded/postgres.ts";
import { redisAnswers, redisServer } from "../embedded/redis.ts";
import type { ServerCommand } from "../embedded/server-process.ts";
import { takeInstanceLock } from "./instance-lock.ts";
import { Keeper, type KeptProgram } from "./keeper.ts";
import { clearPostgresLock, endLeftovers } from "./leftovers.ts";

export interface FactoryOptions {
  /** Variables on top of the process' own. */
  environment?: Record<string, string>;
  /** Program and arguments of web and worker, run in the working folder. */
  programs: { web: string[]; worker: string[] };
  development?: boolean;
  say: (line: string) => void;
  /** A part cannot run any more: everything is being stopped, the caller ends with this code. */
  onHopeless: (reason: string, exitCode: number) => void;
}

export interface RunningFactory {
  /** Where this machine reaches it. */
  url: string;
  externalUrl: string;
  /** Ends everything in order; graceMs 0 at once. */
  stop(graceMs?: number): Promise<void>;
}

/** The settings do not hold together; for exit code 78. */
export class WrongConfiguration extends Error {
  constructor(readonly problems: Problem[]) {
    super(problems.map(({ name, message }) => `${name} ${message}`).join("\n"));
  }
}

/**
 * Starts everything that is not configured to be elsewhere and waits for each. Rejects with WrongConfiguration,
 * AlreadyRunning, or an error that carries the end of the log of what did not start; nothing is left running then.
 */
export async function startFactory(options: FactoryOptions): Promise<RunningFactory> {
  const surroundings = readEnvironment();
  const environment = { ...surroundings, variables: { ...surroundings.variables, ...options.environment } };
  const { settings, problems, warnings } = readSettings(environment);
  if (problems.length > 0) throw new WrongConfiguration(problems);
  for (const { name, message } of warnings) options.say(`warning: ${name} ${message}`);

  const dataDir = dataDirOf(settings, environment);
  await mkdir(dataDir, { recursive: true });
  const release = await takeInstanceLock(dataDir, {
    onWatch: () => options.say(`looking whether another machine or container still uses ${dataDir}`),
  });
  const factory = new Factory(settings, dataDir, options);
  try {
    await factory.start(environment.variables);
  } catch (error) {
    await factory.stop();
    await release();
    throw error;
  }
  return {
    ...factory.addresses,
    stop: async (graceMs) => {
      await factory.stop(graceMs);
      await release();
    },
  };
}

class Factory {
  readonly #keepers: Keeper[] = [];
  #stopping: Promise<void> | null = null;

  constructor(
    readonly settings: Settings,
    readonly dataDir: string,
    readonly options: FactoryOptions,
  ) {}

  get addresses(): { url: string; externalUrl: string } {
    const { PORT = 3000, HOST = "0.0.0.0", EXTERNAL_URL } = this.settings;
    const host = HOST === "0.0.0.0" ? "127.0.0.1" : HOST === "::" ? "[::1]" : HOST;
    return { url: `http://${host}:${PORT}`, externalUrl: EXTERNAL_URL ?? `http://localhost:${PORT}` };
  }

  async start(variables: Readonly<Record<string, string | undefined>>): Promise<void> {
    const { settings, dataDir, options } = this;
    const ended = await endLeftovers(dataDir);
    if (ended.length > 0) options.say(`ended what the last run left behind: ${ended.join(", ")}`);
    const { PORT = 3000 } = settings;
    if (await isListening(PORT)) throw new Error(`port ${PORT} is in use; stop what uses it, or set PORT`);

    const [database, redis] = await Promise.all([
      settings.DATABASE_URL ?? this.#startPostgres(),
      settings.REDIS_URL ?? this.#startRedis(),
    ]);
    const { applied } = await migrate(database);
    if (applied.length > 0) options.say(`database brought up to date (${applied.length} migrations)`);

    await this.#makeKeys();

    const env = {
      ...this.#childVariables(variables, database, redis),
      ...(await this.#administrator(variables)),
    };
    await Promise.all([this.#startWeb(env), this.#startWorker(env)]);
  }

  /** Before web and worker would make them, so that the person at the terminal reads what to keep. */
  async #makeKeys(): Promise<void> {
    if (this.settings.SECUREBOOT_SIGNING_KEY !== undefined) return;
    const folder = inDataDir(this.dataDir, "keys/secureboot");
    if (!(await ensureKeys(folder, new Date()))) return;
    this.options.say(
      `SecureBoot keys made in ${folder}; keep a copy: machines that enroll them start nothing else`,
    );
  }

  /** A token for own extensions, where others reach this machine and the operator said nothing about them. */
  async #administrator(
    variables: Readonly<Record<string, string | undefined>>,
  ): Promise<Record<string, string>> {
    const { OWN_EXTENSIONS, ADMIN_TOKEN, HOST } = this.settings;
    const said = OWN_EXTENSIONS ?? ADMIN_TOKEN ?? variables.ADMIN_TOKEN_FILE;
    if (said !== undefined || isLoopback(HOST)) return {};
    const token = await this.#secret("admin-token");
    this.options.say(
      `own extensions can be changed with the token in ${inDataDir(this.dataDir, "admin-token")}`,
    );
    return { ADMIN_TOKEN: token };
  }

  /** Web first, so that nobody is served by half a factory; the servers last. */
  stop(graceMs?: number): Promise<void> {
    const hurry = graceMs === 0;
    if (this.#stopping && !hurry) return this.#stopping;
    const order = ["web", "worker", "Redis", "Postgres"];
    const inOrder = async () => {
      for (const name of order) {
        await Promise.all(
          this.#keepers.filter((keeper) => keeper.name === name).map((keeper) => keeper.stop(graceMs)),
        );
      }
    };
    this.#stopping = inOrder();
    return this.#stopping;
  }

  async #startPostgres(): Promise<string> {
    const { dataDir, options } = this;
    const cluster = inDataDir(dataDir, "postgres");
    const password = await ensureCluster(cluster, inDataDir(dataDir, "postgres-password"), () =>
      options.say("creating the database"),
    );
    await clearPostgresLock(cluster);
    const port = await findFreePort();
    const admin = postgresUrl(port, password, "postgres");
    const command = await postgresServer({ dataDir: cluster, port, logFile: this.#log("postgres") });
    await this.#keep(command, () => postgresAnswers(admin), 60_000, 20_000);
    await ensureDatabase(admin, "casthouse");
    return postgresUrl(port, password, "casthouse");
  }

  async #startRedis(): Promise<string> {
    const port = await findFreePort();
    const password = await this.#secret("redis-password");
    const url = `redis://:${password}@127.0.0.1:${port}`;
    const place = {
      dataDir: inDataDir(this.dataDir, "redis"),
      port,
      logFile: this.#log("redis"),
      persistent: true,
      password,
    };
    await this.#keep(await redisServer(place), () => redisAnswers(url), 60_000, 10_000);
    return url;
  }

  async #startWeb(env: Record<string, string>): Promise<void> {
    const { url } = this.addresses;
    const ready = async () => (await fetch(`${url}/healthz`).catch(() => null))?.ok === true;
    await this.#keep(this.#program("web", this.options.programs.web, env), ready, 120_000, 15_000);
  }

  /** The worker has no port; it says in its log when it takes jobs, unless the log level hides that. */
  async #startWorker(env: Record<string, string>): Promise<void> {
    const { LOG_LEVEL } = this.settings;
    const patienceMs = LOG_LEVEL === undefined || /info|debug|trace/.test(LOG_LEVEL) ? 60_000 : 3_000;
    const ready: KeptProgram["ready"] = async ({ logFrom, startedAt }) =>
      Date.now() - startedAt > patienceMs ||
      (await textFrom(this.#log("worker"), logFrom)).includes("worker is ready");
    await this.#keep(this.#program("worker", this.options.programs.worker, env), ready, 90_000, 20_000);
  }

  #program(name: "web" | "worker", argv: string[], env: Record<string, string>): ServerCommand {
    const [command = "", ...args] = argv;
    return { name, command, args, env, logFile: this.#log(name) };
  }

  async #keep(
    command: ServerCommand,
    ready: KeptProgram["ready"],
    readyTimeoutMs: number,
    stopGraceMs: number,
  ): Promise<void> {
    const { say, onHopeless } = this.options;
    const keeper = new Keeper({
      command,
      ready,
      readyTimeoutMs,
      stopGraceMs,
      runDir: inDataDir(this.dataDir, "run"),
      say,
      onHopeless,
    });
    this.#keepers.push(keeper);
    await keeper.start();
  }

  #childVariables(
    variables: Readonly<Record<string, string | undefined>>,
    database: string,
    redis: string,
  ): Record<string, string> {
    const env: Record<string, string> = {};
    for (const [name, value] of Object.entries(variables)) if (value !== undefined) env[name] = value;
    delete env.DATABASE_URL_FILE;
    delete env.REDIS_URL_FILE;
    const mode = this.options.development ? "development" : "production";
    return {
      // One heap per thread is what glibc does otherwise: 150 MB more under load (docs/performance.md).
      MALLOC_ARENA_MAX: "2",
      // Three young spaces of 16 MB per heap otherwise: 50 MB more for the same work.
      NODE_OPTIONS: "--max-semi-space-size=4",
      ...env,
      DATABASE_URL: database,
      REDIS_URL: redis,
      DATA_DIR: this.dataDir,
      CASTHOUSE_EMBEDDED: "1",
      NODE_ENV: mode,
    };
  }

  #log(name: string): string {
    return join(inDataDir(this.dataDir, "log"), `${name}.log`);
  }

  /** A random word kept in DATA_DIR, readable by this account only. */
  async #secret(name: "admin-token" | "redis-password"): Promise<string> {
    const path = inDataDir(this.dataDir, name);
    const known = await readFile(path, "utf8").catch(() => null);
    if (known !== null && known.trim() !== "") return known.trim();
    const fresh = randomBytes(18).toString("base64url");
    await writeFile(path, `${fresh}\n`, { mode: 0o600 });
    return fresh;
  }
}

/** What was written into a file after the given place; nothing when it is not there. */
async function textFrom(file: string, from: number): Promise<string> {
  const handle = await open(file, "r").catch(() => null);
  if (handle === null) return "";
  try {
    const { size } = await handle.stat();
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.max(0, size - from)), {
      position: from,
    });
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await handle.close();
  }
}
